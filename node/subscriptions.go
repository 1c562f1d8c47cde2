package node

import (
	"encoding/json"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// The list stands under any of three names: each of the predecessors knew but one or two.
type subscriptionBody struct {
	Subscribe   []string `json:"subscribe"`
	Resources   []string `json:"resources"`
	Unsubscribe []string `json:"unsubscribe"`
}

// subscriptions does what a message to /sm asks for: all of the list, or nothing.
func (c *client) subscriptions(e *message.Envelope) {
	if e.Type != message.Subscribe && e.Type != message.Unsubscribe {
		c.answerError(e, refuse(400, "type: subscribe or unsubscribe is wanted here"))
		return
	}
	addresses, err := readList(e.Body)
	if err != nil {
		c.answerError(e, err)
		return
	}
	s := c.session.Load()
	if e.Type == message.Unsubscribe {
		c.answerError(e, s.unsubscribe(addresses...))
		return
	}
	for _, a := range addresses {
		if err := s.maySubscribe(a); err != nil {
			c.answerError(e, err)
			return
		}
	}
	c.answerError(e, s.subscribe(addresses...))
}

func readList(body []byte) ([]address.Address, *refusal) {
	var b subscriptionBody
	if len(body) > 0 {
		if err := json.Unmarshal(body, &b); err != nil {
			return nil, refuse(400, wrongField(err))
		}
	}
	var addresses []address.Address
	for _, list := range [][]string{b.Subscribe, b.Resources, b.Unsubscribe} {
		for _, text := range list {
			a, err := address.Parse(text)
			if err != nil {
				return nil, refuse(400, "body: "+trimPackage(err))
			}
			addresses = append(addresses, a)
		}
	}
	if len(addresses) == 0 {
		return nil, refuse(400, "body: no addresses in subscribe, resources or unsubscribe")
	}
	return addresses, nil
}

// maySubscribe refuses the components of another runtime, and what the node itself speaks for. An entity of another
// runtime may be subscribed: its messages go to its owner alone for as long as it has one.
func (s *session) maySubscribe(a address.Address) *refusal {
	switch a.Class() {
	case address.Backend:
		return refuse(403, "body: "+a.String()+" is a function of the node")
	case address.Runtime, address.Signalling:
		if a.Within(s.seat.url) {
			return nil
		}
		if s.signed || address.IsRuntimeID(a.ID()) || s.node.sessionOf(a.Entity()) != nil {
			return refuse(403, "body: "+a.String()+" is another runtime's")
		}
	}
	return nil
}

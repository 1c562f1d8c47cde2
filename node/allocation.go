package node

import (
	"encoding/json"
	"slices"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

type allocationBody struct {
	Scheme string `json:"scheme"`
	Value  struct {
		Number            *int     `json:"number"`
		AllocationKey     string   `json:"allocationKey"`
		ChildrenResources []string `json:"childrenResources"`
	} `json:"value"`
	Resource          string   `json:"resource"`
	ChildrenResources []string `json:"childrenResources"`
}

const allocateAtFirst = 5 // the predecessor's number where none is said

// allocation does what a message to /address-allocation asks for. An address that was allocated is its runtime's until that
// gives it back, or its session ends.
func (c *client) allocation(e *message.Envelope) {
	var b allocationBody
	if len(e.Body) > 0 {
		if err := json.Unmarshal(e.Body, &b); err != nil {
			c.answerError(e, refuse(400, wrongField(err)))
			return
		}
	}
	switch e.Type {
	case message.Create:
		urls, err := c.session.Load().allocate(&b)
		if err != nil {
			c.answerError(e, err)
			return
		}
		value := []byte(`{"code":200,"value":{"allocated":[`)
		for i, url := range urls {
			if i > 0 {
				value = append(value, ',')
			}
			value = message.AppendString(value, url.String())
		}
		c.answer(e, append(value, `]}}`...))
	case message.Delete:
		c.answerError(e, c.session.Load().release(&b))
	default:
		c.answerError(e, refuse(400, "type: create or delete is wanted here"))
	}
}

func (s *session) allocate(b *allocationBody) ([]address.Address, *refusal) {
	number := allocateAtFirst
	if b.Value.Number != nil {
		number = *b.Value.Number
	}
	if b.Scheme == "" {
		b.Scheme = "hyperty"
	}
	n := s.node
	n.mu.Lock()
	defer n.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if number < 1 || number > n.config.Limits.Allocations {
		return nil, refuse(400, "body.value.number: out of range")
	}
	if s.over {
		return nil, refuse(403, "the session is over")
	}
	if len(s.allocated)+number > n.config.Limits.Allocations {
		return nil, refuse(403, "body.value.number: too many addresses")
	}
	urls := make([]address.Address, number)
	for i := range urls {
		url, err := address.Parse(b.Scheme + "://" + n.config.Domain + "/" + newToken())
		if err != nil {
			return nil, refuse(400, "body.scheme: "+trimPackage(err))
		}
		if url.Class() != address.Entity {
			return nil, refuse(400, "body.scheme: not that of an entity")
		}
		urls[i] = url
	}
	for _, url := range urls {
		s.allocated[url] = b.Value.AllocationKey
		n.allocations[url] = s
	}
	return urls, nil
}

func (s *session) release(b *allocationBody) *refusal {
	urls := slices.Concat(b.ChildrenResources, b.Value.ChildrenResources)
	key := b.Resource
	if key == "" {
		key = b.Value.AllocationKey
	}
	if key == "" && len(urls) == 0 {
		return refuse(400, "body: neither resource nor childrenResources")
	}
	wanted := make(map[address.Address]struct{}, len(urls))
	for _, text := range urls {
		url, err := address.Parse(text)
		if err != nil {
			return refuse(400, "body.childrenResources: "+trimPackage(err))
		}
		wanted[url] = struct{}{}
	}
	n := s.node
	n.mu.Lock()
	defer n.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for url, under := range s.allocated {
		if _, ok := wanted[url]; ok || key != "" && (under == key || url.String() == key) {
			delete(s.allocated, url)
			delete(n.allocations, url)
		}
	}
	return nil
}

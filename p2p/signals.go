package p2p

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// Bounds of what a peer may send and make wait.
const (
	maxValue      = 64 << 10 // of one signal, in bytes
	maxListed     = 1024     // addresses in a list
	maxCandidates = 64       // of one attempt
	maxWaiting    = 64       // attempts whose offer or candidates wait
)

// component is the component of a runtime that signals go to.
const component = "p2p"

// Incoming is a signal that verified.
type Incoming struct {
	Peer      address.Address
	Kind      string // invite, accept, refuse, offer, answer, candidate, restart, reoffer, reanswer, bye, list
	Attempt   uint64
	Addresses []address.Address // of a list
}

// ForMachine says whether the machine wants to know of it. Answers and candidates are the endpoint's own matter, and a list
// has an event of its own.
func (i Incoming) ForMachine() bool {
	return slices.Contains([]string{"invite", "accept", "refuse", "offer", "bye", "restart"}, i.Kind)
}

type signalBody struct {
	Method    string `json:"method"`
	Kind      string `json:"kind"`
	Attempt   uint32 `json:"attempt"`
	Value     string `json:"value,omitempty"`
	Key       string `json:"key"`
	Signature string `json:"signature"`
}

// IsSignal says whether a JSON message goes to the component that takes signals: it is then for Receive, whatever it holds.
func (e *Endpoint) IsSignal(m message.Envelope) bool {
	return m.To == e.options.Runtime.Join(component).String()
}

// Receive takes a signal: verifies it, and keeps or uses what belongs to the endpoint. A signal that does not verify or can
// not be used is an error, and has no effect.
func (e *Endpoint) Receive(m message.Envelope) (Incoming, error) {
	if m.Type == message.Response {
		return Incoming{}, fmt.Errorf("p2p: %s could not be reached by a signal", m.From)
	}
	from, err := address.Parse(m.From)
	if err != nil {
		return Incoming{}, err
	}
	peer := from.Entity()
	if !peer.IsRuntime() || peer.Join(component) != from || peer == e.options.Runtime {
		return Incoming{}, fmt.Errorf("p2p: a signal from %s, which is not the %s component of another runtime", from, component)
	}
	var body signalBody
	if err := json.Unmarshal(m.Body, &body); err != nil {
		return Incoming{}, fmt.Errorf("p2p: a signal from %s: %w", peer, err)
	}
	if body.Method != "signal" || len(body.Value) > maxValue {
		return Incoming{}, fmt.Errorf("p2p: a signal from %s is none, or too long", peer)
	}
	signed := identity.Signal{From: peer, To: e.options.Runtime, Kind: body.Kind, Attempt: body.Attempt, Value: body.Value}
	if err := identity.VerifySignal(signed, body.Key, body.Signature); err != nil {
		return Incoming{}, fmt.Errorf("p2p: a signal from %s: %w", peer, err)
	}
	in := Incoming{Peer: peer, Kind: body.Kind, Attempt: uint64(body.Attempt)}
	return in, e.use(&in, body.Value)
}

// use does with a verified signal what the endpoint does by itself.
func (e *Endpoint) use(in *Incoming, value string) error {
	id := attemptOf{in.Peer, in.Attempt}
	switch in.Kind {
	case "invite", "accept", "refuse", "bye", "restart":
		return nil
	case "list":
		list, err := readList(value)
		in.Addresses = list
		return err
	case "offer", "answer", "candidate", "reoffer", "reanswer":
	default:
		return fmt.Errorf("p2p: a signal of unknown kind %q", in.Kind)
	}
	e.mu.Lock()
	s := e.stubs[id]
	if s == nil && (in.Kind == "offer" || in.Kind == "candidate") && !e.closed {
		e.waiting.put(id, in.Kind, value)
	}
	e.mu.Unlock()
	switch {
	case s != nil && in.Kind == "offer":
		return errors.New("p2p: an offer for a connection that exists")
	case s != nil:
		s.signalled(in.Kind, value)
	case in.Kind != "offer" && in.Kind != "candidate":
		return fmt.Errorf("p2p: %q for a connection that is not there", in.Kind)
	}
	return nil
}

func readList(value string) ([]address.Address, error) {
	var texts []string
	if err := json.Unmarshal([]byte(value), &texts); err != nil {
		return nil, fmt.Errorf("p2p: a list: %w", err)
	}
	if len(texts) > maxListed {
		return nil, fmt.Errorf("p2p: a list of %d addresses: at most %d", len(texts), maxListed)
	}
	var list []address.Address
	for _, t := range texts {
		a, err := address.Parse(t)
		if err != nil {
			return nil, fmt.Errorf("p2p: a list: %w", err)
		}
		list = append(list, a)
	}
	return list, nil
}

// Signal sends a signed signal. addresses are those of a list.
func (e *Endpoint) Signal(peer address.Address, kind string, attempt uint64, addresses []address.Address) error {
	value := ""
	if kind == "list" {
		texts := make([]string, 0, len(addresses))
		for _, a := range addresses[:min(len(addresses), maxListed)] {
			texts = append(texts, a.String())
		}
		list, err := json.Marshal(texts)
		if err != nil {
			return err
		}
		value = string(list)
	}
	return e.send(attemptOf{peer, attempt}, kind, value)
}

func (e *Endpoint) send(to attemptOf, kind, value string) error {
	if to.attempt > math.MaxUint32 {
		return fmt.Errorf("p2p: attempt %d has more than 32 bits", to.attempt)
	}
	signed := identity.Signal{From: e.options.Runtime, To: to.peer, Kind: kind, Attempt: uint32(to.attempt), Value: value}
	key, signature, err := e.options.Key.SignSignal(signed)
	if err != nil {
		return err
	}
	body, err := json.Marshal(signalBody{Method: "signal", Kind: kind, Attempt: signed.Attempt, Value: value, Key: key, Signature: signature})
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.lastID++
	id := e.lastID
	e.mu.Unlock()
	return e.options.Send(to.peer, message.Envelope{
		ID: id, Type: message.Execute, From: signed.From.Join(component).String(), To: to.peer.Join(component).String(), Body: body,
	})
}

// waitingRoom keeps what came of attempts that have no stub yet: the machine has not said what to do with them, and maybe
// never will. The oldest attempt makes room.
type waitingRoom struct {
	attempts map[attemptOf]*early
	order    []attemptOf
}

type early struct {
	offer      string
	candidates []string
}

func (w *waitingRoom) put(id attemptOf, kind, value string) {
	a := w.attempts[id]
	if a == nil {
		if w.attempts == nil {
			w.attempts = map[attemptOf]*early{}
		}
		if len(w.order) == maxWaiting {
			delete(w.attempts, w.order[0])
			w.order = slices.Delete(w.order, 0, 1)
		}
		a = &early{}
		w.attempts[id] = a
		w.order = append(w.order, id)
	}
	switch {
	case kind == "offer":
		a.offer = value
	case len(a.candidates) < maxCandidates:
		a.candidates = append(a.candidates, value)
	}
}

func (w *waitingRoom) take(id attemptOf) early {
	a := w.attempts[id]
	if a == nil {
		return early{}
	}
	delete(w.attempts, id)
	w.order = slices.DeleteFunc(w.order, func(o attemptOf) bool { return o == id })
	return *a
}

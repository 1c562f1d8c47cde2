package node

import (
	"errors"
	"sync"

	"github.com/hyroute/hyroute/runtime/address"
)

// A session is what a runtime has here from its open on, across re-opens: until it closes, opens anew, or is away too long.
type session struct {
	node   *Node
	seat   *seat
	token  string
	signed bool

	mu        sync.Mutex
	over      bool
	subs      map[address.Address]struct{}
	allocated map[address.Address]string // the allocation key
	timers    []func() bool              // they run while the runtime is away
}

// Receive implements engine.Receiver.
func (s *session) Receive(message []byte) bool {
	c := s.seat.client.Load()
	return c != nil && c.send(message)
}

// subscribe adds to the addresses whose messages come here.
func (s *session) subscribe(addresses ...address.Address) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return refuse(403, "the session is over")
	}
	fresh := map[address.Address]struct{}{}
	for _, a := range addresses {
		if _, ok := s.subs[a]; !ok {
			fresh[a] = struct{}{}
		}
	}
	if len(s.subs)+len(fresh) > s.node.config.Limits.Subscriptions {
		return refuse(403, "body: too many subscriptions")
	}
	for a := range fresh {
		if err := s.node.config.Engine.Subscribe(a, s); err != nil {
			return refuse(500, "engine: "+err.Error())
		}
		s.subs[a] = struct{}{}
	}
	return nil
}

func (s *session) unsubscribe(addresses ...address.Address) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range addresses {
		if _, ok := s.subs[a]; !ok {
			continue
		}
		if err := s.node.config.Engine.Unsubscribe(a, s); err != nil {
			return refuse(500, "engine: "+err.Error())
		}
		delete(s.subs, a)
	}
	return nil
}

func (s *session) subscribed(a address.Address) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.subs[a]
	return ok
}

// end takes back all that the session has at the node.
func (s *session) end() {
	s.present()
	s.mu.Lock()
	s.over = true
	var failed error
	for a := range s.subs {
		failed = errors.Join(failed, s.node.config.Engine.Unsubscribe(a, s))
	}
	clear(s.subs)
	allocated := s.allocated
	s.allocated = nil
	s.mu.Unlock()
	if failed != nil {
		s.node.config.Logger.Error("unsubscribing failed", "runtime", s.seat.url.String(), "error", failed)
	}
	s.node.mu.Lock()
	defer s.node.mu.Unlock()
	for a := range allocated {
		delete(s.node.allocations, a)
	}
}

// away starts the timers of a runtime whose socket is gone.
func (s *session) away() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	limits := &s.node.config.Limits
	s.timers = append(s.timers,
		s.node.after(limits.AbsentAfter, func() { s.node.absent(s.seat) }),
		s.node.after(limits.ForgetAfter, func() { s.node.forget(s) }))
}

// present stops them.
func (s *session) present() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stop := range s.timers {
		stop()
	}
	s.timers = nil
}

// detach notes that a socket is gone.
func (n *Node) detach(c *client) {
	s := c.session.Load()
	if s == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.seat.client.CompareAndSwap(c, nil) && !n.closed {
		s.seat.vacate()
		s.away()
	}
}

// forget ends a session whose runtime was away too long.
func (n *Node) forget(s *session) {
	n.mu.Lock()
	over := s.seat.session == s && s.seat.client.Load() == nil
	if over {
		s.seat.session = nil
		n.drop(s.seat)
	}
	n.mu.Unlock()
	if over {
		s.end()
	}
}

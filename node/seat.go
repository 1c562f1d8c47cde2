package node

import (
	"sync/atomic"

	"github.com/hyroute/hyroute/runtime/address"
)

// A seat is the place of a runtime at this node, whether it is here or not. Handles point to seats, so a frame finds its way
// without a look-up. A seat lasts as long as its runtime has a session or some handle means it.
type seat struct {
	url    address.Address
	client atomic.Pointer[client] // nil: away. Changed with Node.mu held

	uses    int      // of handles; guarded by Node.mu
	session *session // nil: none; guarded by Node.mu
}

// use gives the seat of a runtime, and counts a use of it.
func (n *Node) use(runtime address.Address) *seat {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.seat(runtime)
	s.uses++
	return s
}

// seat gives the seat of a runtime. Node.mu is held.
func (n *Node) seat(runtime address.Address) *seat {
	s := n.seats[runtime]
	if s == nil {
		s = &seat{url: runtime}
		n.seats[runtime] = s
	}
	return s
}

// leave takes uses of seats back.
func (n *Node) leave(seats ...*seat) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range seats {
		if s != nil {
			s.uses--
			n.drop(s)
		}
	}
}

// drop forgets a seat that nobody needs. Node.mu is held.
func (n *Node) drop(s *seat) {
	if s.uses == 0 && s.session == nil && n.seats[s.url] == s {
		delete(n.seats, s.url)
	}
}

// sessionOf gives the session of a runtime, or nil.
func (n *Node) sessionOf(runtime address.Address) *session {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := n.seats[runtime]; s != nil {
		return s.session
	}
	return nil
}

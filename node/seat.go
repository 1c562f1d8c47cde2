package node

import (
	"sync/atomic"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

// A seat is the place of a runtime at this node, whether it is here or not. Handles point to seats, so a frame finds its way
// without a look-up. A seat lasts as long as its runtime has a session or some handle means it.
type seat struct {
	url    address.Address
	client atomic.Pointer[client] // nil: away. Changed with Node.mu held

	uses    int                // of handles; guarded by Node.mu
	named   map[*client]uint64 // who uses it, and by which handle since last; guarded by Node.mu
	session *session           // nil: none; guarded by Node.mu
}

// use gives the seat of a runtime, which a client's handle means from now on.
func (n *Node) use(runtime address.Address, c *client, handle uint64) *seat {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.seat(runtime)
	if s.named == nil {
		s.named = map[*client]uint64{}
	}
	s.uses++
	s.named[c] = handle
	return s
}

// vacate tells all who have a handle for a runtime that it went, without a frame that it would be about: who sends nothing would
// not hear of it else. Node.mu is held.
func (s *seat) vacate() {
	for c, handle := range s.named {
		c.queue.notice(handle, frame.NoticeNoRuntime, nil)
	}
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

// leave takes the use of a seat by a client's handle back.
func (n *Node) leave(s *seat, c *client, handle uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s == nil {
		return
	}
	if s.named[c] == handle {
		delete(s.named, c)
	}
	s.uses--
	n.drop(s)
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

package host

import (
	"context"
	"iter"
	"sync"
)

// watchBuffer is how many events wait for one that watches. Who is slower misses the newest ones.
const watchBuffer = 256

// An Event is something that a program may want to know of a runtime: a PathChanged, NodeChanged, PeerChanged, PresenceChanged, Reset, Gap,
// Registered, Problem or Routed.
type Event interface{ event() }

// PathChanged says that messages to Peer prefer another path now.
type PathChanged struct {
	Peer   string // runtime URL
	Path   Path
	Reason string
}

// NodeChanged says that the connection to the Message Node of Domain changed: created, in-progress, live, disconnected, failed.
type NodeChanged struct {
	Domain  string
	Status  string
	Resumed bool
	Reason  string
	Err     error // the reason for people; may be nil
}

// PeerChanged says the same of a peer connection.
type PeerChanged struct {
	Peer   string // runtime URL
	Status string
	Reason string
	Err    error
}

// PresenceChanged says that Peer, which this runtime has a session with, went (disconnected: its Message Node does not know it now, and it
// does not answer on a peer connection), or is back (live: something of it came, or it registered again). A peer that vanished without
// a word is found out by its node only after a while (docs/protocol.md, 3).
type PresenceChanged struct {
	Peer   string // runtime URL
	Status string
	Reason string
}

// Reset says that the stream of messages to Peer started over, with Doubt messages of which nobody knows.
type Reset struct {
	Peer   string
	Doubt  uint64
	Reason string
}

// Gap says that the stream of messages from Peer started over: some before may be missing.
type Gap struct{ Peer string }

// Registered says what became of the Domain Registry entry of an own address: 200, or 403 if it belongs to another runtime.
type Registered struct {
	Address string
	Code    uint64
}

// Routed says how messages go from now on, and through which steps of the routing document that was decided.
type Routed struct {
	From, To string
	By       string // local, session, node, none
	Peer     string
	Reason   string
	Steps    []uint8
}

// Problem is something that went wrong outside of this program's reach.
type Problem struct{ Text string }

func (PathChanged) event()     {}
func (NodeChanged) event()     {}
func (PeerChanged) event()     {}
func (PresenceChanged) event() {}
func (Reset) event()           {}
func (Gap) event()             {}
func (Registered) event()      {}
func (Routed) event()          {}
func (Problem) event()         {}

// watchers are those who watch.
type watchers struct {
	mu     sync.Mutex
	list   map[chan Event]struct{}
	first  chan Event // has been there since the start, for who watches first
	closed bool
}

// tell never waits.
func (w *watchers) tell(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.list {
		select {
		case c <- e:
		default:
		}
	}
}

func (w *watchers) add() chan Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan Event, watchBuffer)
	if w.closed {
		close(c)
		return c
	}
	if w.list == nil {
		w.list = map[chan Event]struct{}{}
	}
	w.list[c] = struct{}{}
	return c
}

// adopt is add, but the first one gets what happened so far.
func (w *watchers) adopt() chan Event {
	w.mu.Lock()
	c := w.first
	w.first = nil
	w.mu.Unlock()
	if c != nil {
		return c
	}
	return w.add()
}

func (w *watchers) remove(c chan Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.list, c)
}

func (w *watchers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for c := range w.list {
		close(c)
	}
	w.list = nil
}

// Events gives what happens from the call on, until ctx or the runtime ends; the first call gives what happened since Connect
// as well, and with Options.Store each Reset and Gap that the former life found at the very end: it may not have lived to tell.
// Whoever is 256 events behind misses some.
func (r *Runtime) Events(ctx context.Context) iter.Seq[Event] {
	c := r.watchers.adopt()
	return func(yield func(Event) bool) {
		defer r.watchers.remove(c)
		for {
			select {
			case e, ok := <-c:
				if !ok || !yield(e) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

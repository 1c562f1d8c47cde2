package session

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

// relay is a Message Node stub as the sessions see it: a socket with tables of handles, shared by all peers behind it.
type relay struct {
	stub    uint64
	live    bool
	blocked bool
	given   allowance
	next    uint64
	out     map[address.Address]uint64
	named   map[uint64]address.Address
	in      map[uint64]address.Address
}

func (t *Table) relay(stub uint64) *relay {
	r := t.relays[stub]
	if r == nil {
		r = &relay{stub: stub}
		r.forgetHandles()
		t.relays[stub] = r
	}
	return r
}

func (r *relay) forgetHandles() {
	r.next = 0
	r.out = map[address.Address]uint64{}
	r.named = map[uint64]address.Address{}
	r.in = map[uint64]address.Address{}
}

// handle is the one that stands for url on this socket. It is defined first if need be; the oldest one is used again
// when all are taken.
func (r *relay) handle(t *Table, url address.Address) uint64 {
	if h, ok := r.out[url]; ok {
		return h
	}
	r.next = r.next%frame.MaxHandle + 1
	h := r.next
	if old, ok := r.named[h]; ok {
		delete(r.out, old)
	}
	r.out[url], r.named[h] = h, url
	t.act(&Name{Stub: r.stub, Handle: h, Peer: url})
	return h
}

// RelayOpened says that the stub has a new socket. All of its handles are undefined again.
func (t *Table) RelayOpened(stub uint64) {
	r := t.relay(stub)
	r.live, r.blocked = true, false
	r.forgetHandles()
	for _, p := range t.behind(stub) {
		p.relay.pings = nil
		p.relay.pausedUntil = 0
		for _, s := range p.sessions {
			s.rewind(p.relay)
		}
		t.touch(p)
	}
}

// RelayGone says that the stub's socket is gone.
func (t *Table) RelayGone(stub uint64) {
	r := t.relay(stub)
	r.live = false
	for _, p := range t.behind(stub) {
		t.touch(p)
	}
}

func (t *Table) behind(stub uint64) []*peer {
	var all []*peer
	for _, p := range t.peers {
		if p.relay.relay.stub == stub {
			all = append(all, p)
		}
	}
	sortByID(all)
	return all
}

// HandleNamed says what a handle of the node means from now on.
func (t *Table) HandleNamed(stub, handle uint64, url address.Address) {
	if handle == 0 || handle > frame.MaxHandle || !url.IsRuntime() {
		t.dropped++
		return
	}
	t.relay(stub).in[handle] = url
}

// Blocked and Writable tell the state of what a stub has still to write.
func (t *Table) Blocked(stub uint64, blocked bool) {
	if c := t.channels[stub]; c != nil {
		c.blocked = blocked
		t.touch(c.peer)
		return
	}
	r := t.relays[stub]
	if r == nil {
		return
	}
	r.blocked = blocked
	if !blocked {
		for _, p := range t.behind(stub) {
			t.touch(p)
		}
	}
}

// Notice says that the node did not pass on a frame to the runtime that our handle means.
func (t *Table) Notice(stub, handle, reason uint64) {
	r := t.relays[stub]
	if r == nil {
		return
	}
	url, ok := r.named[handle]
	p := t.peers[url]
	if !ok || p == nil {
		return
	}
	t.touch(p)
	switch reason {
	case frame.NoticeNoSessions:
		for _, s := range p.sessions {
			s.abandon(t, Legacy)
		}
	case frame.NoticeNoRuntime, frame.NoticeFull:
		p.absent = reason == frame.NoticeNoRuntime
		pause := t.numbers.MinRTO
		for _, s := range p.sessions {
			pause = max(pause, s.rtoLength(t))
			s.rewind(p.relay)
		}
		if p.relay.pausedUntil <= t.now {
			p.relay.pausedUntil = t.now + pause
		}
	}
}

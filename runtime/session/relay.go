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
	last    uint64 // handle that was asked for
	out     map[address.Address]uint64
	named   []address.Address // by handle
	in      []address.Address // by handle
}

//go:noinline
func (t *Table) relay(stub uint64) *relay {
	r := t.findRelay(stub)
	if r == nil {
		r = &relay{stub: stub}
		r.forgetHandles()
		t.relays = append(t.relays, r)
	}
	return r
}

func (t *Table) findRelay(stub uint64) *relay {
	for _, r := range t.relays {
		if r.stub == stub {
			return r
		}
	}
	return nil
}

func (r *relay) forgetHandles() {
	r.next = 0
	r.out = map[address.Address]uint64{}
	r.named, r.in = nil, nil
}

// handle is the one that stands for url on this socket. It is defined first if need be; the oldest one is used again
// when all are taken.
func (r *relay) handle(t *Table, url address.Address) uint64 {
	if r.last < uint64(len(r.named)) && r.named[r.last] == url {
		return r.last
	}
	if h, ok := r.out[url]; ok {
		r.last = h
		return h
	}
	r.next = r.next%frame.MaxHandle + 1
	h := r.next
	if h < uint64(len(r.named)) {
		delete(r.out, r.named[h])
	}
	r.out[url] = h
	set(&r.named, h, url)
	t.act(&Name{Stub: r.stub, Handle: h, Peer: url})
	return h
}

// RelayOpened says that the stub has a new socket. All of its handles are undefined again.
func (t *Table) RelayOpened(stub uint64) {
	r := t.relay(stub)
	r.live, r.blocked = true, false
	r.forgetHandles()
	for _, p := range t.behind(stub) {
		c := p.findRelay(stub)
		c.pings, c.pausedUntil, c.absent = nil, 0, false
		c.state, c.trusted, c.unanswered, c.silentSince = good, t.now, 0, 0
		c.flight.lost()
		for _, s := range p.sessions {
			s.rewind(c)
			s.inquireNow(t)
		}
		p.why = "node-back"
		t.touch(p)
	}
}

// RelayGone says that the stub's socket is gone.
func (t *Table) RelayGone(stub uint64) {
	r := t.relay(stub)
	r.live = false
	for _, p := range t.behind(stub) {
		p.why = "node-gone"
		t.touch(p)
	}
}

func (t *Table) behind(stub uint64) []*peer {
	var all []*peer
	for _, p := range t.peers {
		if p.findRelay(stub) != nil {
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
	set(&t.relay(stub).in, handle, url)
}

// set puts url in its place of a table by handle.
func set(table *[]address.Address, handle uint64, url address.Address) {
	for uint64(len(*table)) <= handle {
		*table = append(*table, address.Address{})
	}
	(*table)[handle] = url
}

// Blocked and Writable tell the state of what a stub has still to write.
func (t *Table) Blocked(stub uint64, blocked bool) {
	if c := t.channels[stub]; c != nil {
		c.blocked = blocked
		if blocked {
			c.given.blocked(t)
		}
		t.touch(c.peer)
		return
	}
	r := t.findRelay(stub)
	if r == nil {
		return
	}
	r.blocked = blocked
	if blocked {
		r.given.blocked(t)
	} else {
		for _, p := range t.behind(stub) {
			t.touch(p)
		}
	}
}

// Notice says that the node did not pass on a frame to the runtime that our handle means.
func (t *Table) Notice(stub, handle, reason uint64) {
	r := t.findRelay(stub)
	if r == nil || handle >= uint64(len(r.named)) {
		return
	}
	p := t.peers[r.named[handle]]
	if p == nil {
		return
	}
	t.touch(p)
	switch reason {
	case frame.NoticeNoSessions:
		for _, s := range p.sessions {
			s.abandon(t, Legacy)
		}
	case frame.NoticeNoRuntime, frame.NoticeFull:
		c := p.findRelay(stub)
		if c == nil {
			return
		}
		pause := t.numbers.MinRTO
		for _, s := range p.sessions {
			pause = max(pause, s.rtoLength(t))
			s.rewind(c)
		}
		if reason == frame.NoticeNoRuntime {
			c.away(t)
		} else {
			p.present(t, "heard")
			// A queue of frames is short: it is soon empty if its reader reads at all.
			pause = min(t.numbers.FullPause<<min(c.full, 16), pause)
		}
		c.flight.lost()
		if c.pausedUntil > t.now {
			return // it was one of many that had left already
		}
		c.pausedUntil = t.now + pause
		if reason == frame.NoticeFull {
			c.full++
			c.flight.overflowed(t)
		}
	}
}

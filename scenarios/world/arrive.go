package world

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/frame"
)

// What comes to a body from outside. A socket that the body has closed, or that an earlier life of it opened, is silent.

func (b *body) hears(k *socket) bool {
	return b.alive && k.life == b.life && !k.closed && k.stub.socket == k
}

func (b *body) framed(k *socket, handle uint64, f []byte) {
	if b.hears(k) {
		b.gotFrame(k.stub.id, handle, f)
	}
}

func (b *body) channelled(s *stub, f []byte) {
	if b.alive {
		b.gotFrame(s.id, 0, f)
	}
}

// gotFrame cuts a frame in two, as every body does, and keeps the payload until the step on it is over.
func (b *body) gotFrame(stub, handle uint64, f []byte) {
	n := frame.HeadSize(f)
	if n == 0 {
		return // not a frame; a body drops it
	}
	b.numbers.frame++
	b.inFrames[b.numbers.frame] = f[n:]
	b.tell(&engine.FrameReceived{Stub: stub, Handle: handle, Frame: b.numbers.frame, Head: f[:n:n], Size: len(f) - n})
}

func (b *body) named(k *socket, handle uint64, runtime address.Address) {
	if b.hears(k) {
		b.tell(&engine.HandleNamed{Stub: k.stub.id, Handle: handle, Runtime: runtime})
	}
}

func (b *body) noticed(k *socket, handle, reason uint64, head []byte) {
	if b.hears(k) {
		b.tell(&engine.NoticeReceived{Stub: k.stub.id, Handle: handle, Reason: reason, Head: head})
	}
}

func (b *body) answered(k *socket, a *engine.RegistryAnswered) {
	if !b.hears(k) {
		return
	}
	job := a.Job
	b.tell(a, func() { delete(b.jobs, job) })
}

func (b *body) notified(a address.Address, status string) {
	if b.alive {
		b.tell(&engine.RegistrationNotified{Address: a, Status: status})
	}
}

func (b *body) gotPlain(k *socket, m plain) {
	if !b.hears(k) {
		return
	}
	b.numbers.plain++
	b.plains[b.numbers.plain] = &m
	b.tell(&engine.JSONReceived{JSON: b.numbers.plain, Stub: k.stub.id, From: m.from, To: m.to})
}

func (b *body) signalled(k *socket, from address.Address, kind string, attempt uint64, list []address.Address, n *negotiation) {
	if !b.hears(k) {
		return
	}
	switch kind {
	case "answer":
		n.channel.connect()
		return
	case "reoffer", "reanswer":
		b.renegotiated(kind, n)
		return
	case "list":
		b.tell(&engine.PeerListed{Peer: from, Addresses: list})
		return
	case "offer":
		b.offers[offerKey{from, attempt}] = n.channel
	}
	b.tell(&engine.SignalReceived{Peer: from, Kind: kind, Attempt: attempt})
}

func (b *body) tellStub(s *stub, status engine.Status, resumed bool, reason string) {
	if s.closed || s.failed || !b.alive {
		return
	}
	s.failed = status == engine.StatusFailed
	b.tell(&engine.StubChanged{Stub: s.id, Status: status, Resumed: resumed, Reason: reason})
}

// tellMark passes on what a pipe says of itself, unless a fault says otherwise.
func (b *body) tellMark(s *stub, blocked bool) {
	if !b.forced {
		b.tellBlocked(s, blocked)
	}
}

func (b *body) tellBlocked(s *stub, blocked bool) {
	if s.closed || s.failed || !b.alive {
		return
	}
	if blocked {
		b.tell(&engine.StubBlocked{Stub: s.id})
	} else {
		b.tell(&engine.StubWritable{Stub: s.id})
	}
}

// full says whether what waits in the stub's pipe is above its mark.
func (s *stub) full() bool {
	if s.socket != nil {
		return s.socket.up.blocked
	}
	if s.channel != nil && s.channel.open {
		for _, e := range s.channel.ends {
			if e.stub != s {
				return e.in.blocked
			}
		}
	}
	return false
}

// unmark forgets, before a step, which stubs are blocked no more: its effects may use them.
func (b *body) unmark(events []engine.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case *engine.StubWritable:
			delete(b.marked, e.Stub)
		case *engine.StubChanged: // a new socket has nothing to write yet
			delete(b.marked, e.Stub)
		}
	}
}

// mark notes, after a step, which stubs the machine now knows to be blocked.
func (b *body) mark(events []engine.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case *engine.StubBlocked:
			b.marked[e.Stub] = true
		case *engine.StubWritable:
			delete(b.marked, e.Stub)
		case *engine.StubChanged:
			delete(b.marked, e.Stub)
		}
	}
}

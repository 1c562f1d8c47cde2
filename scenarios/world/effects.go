package world

import (
	"slices"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/scenarios/history"
)

func (b *body) doAll(effects []engine.Effect) {
	for _, e := range effects {
		if b.w.failure != nil {
			return
		}
		b.do(e)
	}
}

// do does what the machine asks, and judges whether it may ask for it.
func (b *body) do(e engine.Effect) {
	switch e := e.(type) {
	case *engine.DeployNodeStub:
		s := b.newStub(e.Stub, nodeStub)
		s.domain = e.Domain
		b.dial(s)
	case *engine.ConnectStub:
		if s := b.stub(e.Stub, "connect-stub"); s != nil {
			b.dial(s)
		}
	case *engine.CloseStub:
		b.closeStub(e.Stub)
	case *engine.Subscribe:
		b.ask(e.Job, e.Stub, "subscribe", func(k *socket) { k.node.subscribe(k, e.Job, e.Addresses, true) })
	case *engine.Unsubscribe:
		b.ask(e.Job, e.Stub, "unsubscribe", func(k *socket) { k.node.subscribe(k, e.Job, e.Addresses, false) })
	case *engine.RegisterEndpoint:
		b.ask(e.Job, e.Stub, "register-endpoint", func(k *socket) { k.node.create(k, e.Job, e.Address, e.Expires) })
	case *engine.RefreshEndpoint:
		b.ask(e.Job, e.Stub, "refresh-endpoint", func(k *socket) { k.node.refresh(k, e.Job, e.Address) })
	case *engine.UnregisterEndpoint:
		b.ask(e.Job, e.Stub, "unregister-endpoint", func(k *socket) { k.node.remove(k, e.Job, e.Address) })
	case *engine.QueryRegistry:
		if c := e.Resource.Class(); c != address.Entity {
			b.w.fail("backend-never-queried", "%s asks the registry for %s, which is %s", b.name, e.Resource, c)
		}
		b.ask(e.Job, e.Stub, "query-registry", func(k *socket) { k.node.read(k, e.Job, e.Registry, e.Resource) })
	case *engine.NameHandle:
		b.nameHandle(e)
	case *engine.Transmit:
		b.transmit(e)
	case *engine.Forward:
		b.forward(e)
	case *engine.Hold:
		b.hold(e)
	case *engine.Drop:
		b.drop(e)
	case *engine.Deliver:
		b.deliver(e)
	case *engine.Discard:
		b.discard(e)
	case *engine.Settle:
		b.settle(e)
	case *engine.GiveUpAnswer:
		b.giveUp(e)
	case *engine.Release:
		b.release(e)
	case *engine.Signal:
		if !slices.Contains([]string{"invite", "accept", "refuse", "bye", "list", "restart"}, e.Kind) {
			b.w.fail("known-words", "%s sends a signal of kind %q", b.name, e.Kind)
		}
		b.sendSignal(e.Peer, e.Kind, e.Attempt, e.Addresses, nil)
	case *engine.DialPeer:
		b.dialPeer(e)
	case *engine.AnswerPeer:
		b.answerPeer(e)
	case *engine.RestartPeer:
		b.restartPeer(e)
	case *engine.SessionReset:
		b.w.log(history.Record{End: b.url.String(), Kind: history.Reset, Peer: e.Peer.String(), Session: e.Session})
	case *engine.Gap:
		b.w.log(history.Record{End: b.url.String(), Kind: history.Gap, Peer: e.Peer.String(), Session: e.Session})
	case *engine.Explained:
		if !b.asked[e.Job] {
			b.w.fail("asked-once", "%s explained job %d, which nobody asked (any more)", b.name, e.Job)
		}
		delete(b.asked, e.Job)
	case *engine.Wake:
		b.timer(e.At)
	case *engine.Routed, *engine.PathChanged, *engine.PresenceChanged, *engine.SessionStats, *engine.Stats:
	default:
		b.w.fail("known-words", "%s: unknown effect %T", b.name, e)
	}
}

func (b *body) newStub(id uint64, kind stubKind) *stub {
	if id == 0 || b.stubs[id] != nil {
		b.w.fail("fresh-numbers", "%s: stub %d is used already", b.name, id)
	}
	s := &stub{id: id, kind: kind}
	b.stubs[id] = s
	b.stubOrder = append(b.stubOrder, id)
	return s
}

// stub is a stub that the machine may name: not one that it closed, or that it knows to have failed.
func (b *body) stub(id uint64, what string) *stub {
	s := b.stubs[id]
	if s == nil || s.closed {
		b.w.fail("known-stub", "%s: %s names stub %d, which is not there (any more)", b.name, what, id)
		return nil
	}
	return s
}

func (b *body) closeStub(id uint64) {
	s := b.stub(id, "close-stub")
	if s == nil {
		return
	}
	s.closed = true
	if s.socket != nil {
		s.socket.die(true, true)
		s.socket = nil
	}
	if s.channel != nil {
		s.channel.leave(s)
	}
	delete(b.marked, id)
	delete(b.stubs, id)
	b.stubOrder = slices.DeleteFunc(b.stubOrder, func(x uint64) bool { return x == id })
}

// socketTo is the open socket to the node of a domain.
func (b *body) socketTo(domain string) *socket {
	for _, id := range b.stubOrder {
		if s := b.stubs[id]; s.kind == nodeStub && s.domain == domain && s.socket != nil {
			return s.socket
		}
	}
	return nil
}

// ask sends a question to a node. A question on a stub that is down gets no answer.
func (b *body) ask(id, stub uint64, what string, at func(*socket)) {
	if id == 0 || b.jobs[id] != nil {
		b.w.fail("fresh-numbers", "%s: job %d is used already", b.name, id)
		return
	}
	s := b.stub(stub, what)
	if s == nil {
		return
	}
	if s.kind != nodeStub {
		b.w.fail("known-stub", "%s: %s on peer stub %d", b.name, what, stub)
		return
	}
	b.jobs[id] = &job{at: engine.Instant(b.nowHere()), what: what}
	k := s.socket
	if k == nil {
		return
	}
	k.up.send(300, func() {
		if k.attached {
			at(k)
		}
	})
}

func (b *body) nameHandle(e *engine.NameHandle) {
	s := b.stub(e.Stub, "name-handle")
	if s == nil {
		return
	}
	if e.Handle == 0 || e.Handle > 4095 {
		b.w.fail("valid-numbers", "%s names handle %d", b.name, e.Handle)
	}
	if k := s.socket; k != nil {
		handle, runtime := e.Handle, e.Runtime.String()
		k.up.send(len(runtime)+4, func() { k.handles[handle], k.named[runtime] = runtime, handle })
	}
}

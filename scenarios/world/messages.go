package world

import (
	"slices"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/scenarios/history"
)

// post posts a message to the machine.
func (b *body) post(from, to address.Address, size int, a Action) {
	b.numbers.msg++
	id := identity{byte(b.index), uint16(b.life), uint32(b.numbers.msg)}
	p := &post{id: id, content: content(id, size)}
	p.event = engine.MessagePosted{
		Msg: b.numbers.msg, From: from, To: to, Size: len(p.content), Deadline: a.Deadline, Answer: a.Answer,
		Lane: a.Lane,
	}
	lane := a.Lane
	if a.Never {
		p.event.Wish, lane = engine.WishNever, lane+" never"
	}
	b.posts[b.numbers.msg] = p
	b.order = append(b.order, b.numbers.msg)
	b.w.log(history.Record{End: b.url.String(), Kind: history.Posted, Message: id.String(), From: from.String(), To: to.String(), Lane: lane})
	event := p.event
	b.tell(&event)
	b.told = append(b.told, p)
}

// known is the post that an effect names; its content must still be there if the effect uses it.
func (b *body) known(msg uint64, what string, content bool) *post {
	p := b.posts[msg]
	switch {
	case p == nil:
		b.w.fail("known-message", "%s: %s names message %d, which is not there (any more)", b.name, what, msg)
	case content && p.released:
		b.w.fail("released-never-used", "%s: %s uses message %d after its release", b.name, what, msg)
		return nil
	}
	return p
}

func (b *body) settle(e *engine.Settle) {
	p := b.known(e.Msg, "settle", false)
	if p == nil {
		return
	}
	if p.settled {
		b.w.fail("settled-once", "%s: message %d is settled a second time, as %s", b.name, e.Msg, e.Outcome)
		return
	}
	if !slices.Contains([]string{history.OutcomeDelivered, history.OutcomeTaken, history.OutcomeRejected}, e.Outcome) ||
		e.Outcome == history.OutcomeRejected && !slices.Contains(reasons, e.Reason) {
		b.w.fail("known-words", "%s: message %d settled as %q, reason %q", b.name, e.Msg, e.Outcome, e.Reason)
	}
	p.settled, p.outcome, p.reason = true, e.Outcome, e.Reason
	b.w.log(history.Record{End: b.url.String(), Kind: history.Settled, Message: p.id.String(), Outcome: e.Outcome, Reason: e.Reason, Maybe: e.Maybe})
	if e.Outcome != history.OutcomeRejected && p.event.Answer > 0 {
		b.expectAnswer(e.Msg, p)
	} else {
		p.answered = true
	}
	b.forget(e.Msg, p)
}

// expectAnswer plays the other side's answer: in time, late or never.
func (b *body) expectAnswer(msg uint64, p *post) {
	life, wait := b.life, uint64(b.chance.below(int(2*p.event.Answer)))
	if b.chance.percent(20) {
		return
	}
	b.w.after(wait, func() {
		if b.life == life && !p.answered {
			p.answered = true
			b.tell(&engine.AnswerReceived{Msg: msg}, func() { p.toldAnswer = true })
			b.forget(msg, p)
		}
	})
}

func (b *body) giveUp(e *engine.GiveUpAnswer) {
	p := b.posts[e.Msg]
	if p == nil || p.event.Answer == 0 || p.gaveUp || p.toldAnswer {
		b.w.fail("answer-once", "%s gives up the answer to message %d, which waits for none", b.name, e.Msg)
		return
	}
	p.gaveUp, p.answered = true, true
	b.forget(e.Msg, p)
}

func (b *body) release(e *engine.Release) {
	p := b.known(e.Msg, "release", false)
	if p == nil {
		return
	}
	if p.released {
		b.w.fail("released-once", "%s: message %d is released a second time", b.name, e.Msg)
	}
	p.released, p.content = true, nil
	b.forget(e.Msg, p)
}

// forget drops what is known of a post of which nothing more can come. One whose answer was asked for is kept for a while:
// the answer may cross the machine giving up.
func (b *body) forget(msg uint64, p *post) {
	if !p.settled || !p.released || !p.answered {
		return
	}
	b.order = slices.DeleteFunc(b.order, func(m uint64) bool { return m == msg })
	if p.event.Answer == 0 {
		delete(b.posts, msg)
	}
}

// transmit puts a frame together and sends it.
func (b *body) transmit(e *engine.Transmit) {
	s := b.stub(e.Stub, "transmit")
	if s == nil {
		return
	}
	if (e.Handle == 0) != (s.kind == peerStub) {
		b.w.fail("known-stub", "%s: transmit on stub %d with handle %d", b.name, e.Stub, e.Handle)
		return
	}
	f := append([]byte(nil), e.Head...)
	f = append(f, make([]byte, e.Pad)...)
	for _, part := range e.Parts {
		p := b.known(part.Msg, "transmit", true)
		if p == nil {
			return
		}
		if part.Offset < 0 || part.Length < 0 || part.Offset+part.Length > len(p.content) {
			b.w.fail("valid-numbers", "%s: transmit of %d bytes at %d of message %d, which has %d", b.name, part.Length, part.Offset, part.Msg, len(p.content))
			return
		}
		f = append(f, p.content[part.Offset:part.Offset+part.Length]...)
	}
	b.checkFrame(e, f)
	b.sendFrame(s, e.Handle, f)
}

func (b *body) sendFrame(s *stub, handle uint64, f []byte) {
	switch {
	case s.channel != nil:
		s.channel.send(s, f)
	case s.socket != nil:
		k := s.socket
		k.up.send(len(f)+3, func() { k.node.forward(k, handle, f) })
	}
}

// checkFrame reads a frame as its receiver will.
func (b *body) checkFrame(e *engine.Transmit, f []byte) {
	n := frame.HeadSize(f)
	if n != len(e.Head) {
		b.w.fail("valid-frames", "%s: a head of %d bytes that says %d", b.name, len(e.Head), n)
		return
	}
	h, err := frame.Read(f[:n], len(f)-n)
	switch {
	case err != nil:
		b.w.fail("valid-frames", "%s: %v", b.name, err)
	case len(f) > maxFrame:
		b.w.fail("valid-frames", "%s: a frame of %d bytes", b.name, len(f))
	case len(h.Chunks) > 0 && b.marked[e.Stub]:
		b.w.fail("blocked-is-heeded", "%s: chunks by stub %d, which is blocked", b.name, e.Stub)
	}
	for _, c := range h.Chunks {
		most := maxChunk
		if whole := frame.Begin | frame.End; c.Flags&whole == whole {
			most = maxWhole
		}
		if c.Length > most {
			b.w.fail("valid-frames", "%s: a chunk of %d bytes", b.name, c.Length)
		}
	}
}

// forward sends a posted message as plain JSON.
func (b *body) forward(e *engine.Forward) {
	s := b.stub(e.Stub, "forward")
	p := b.known(e.Msg, "forward", true)
	if s == nil || p == nil {
		return
	}
	if s.kind != nodeStub {
		b.w.fail("known-stub", "%s: forward by peer stub %d", b.name, e.Stub)
		return
	}
	k := s.socket
	if k == nil {
		return
	}
	m := plain{from: p.event.From, to: p.event.To, content: p.content, name: p.id.String()}
	k.up.send(len(m.content)+300, func() {
		if k.attached {
			k.node.route(m)
		}
	})
}

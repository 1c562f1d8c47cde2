package host

import (
	"fmt"
	"slices"
	"time"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/message"
)

// outbox holds what was posted here and is not settled or released yet, and the requests that wait for an answer. The
// loop's goroutine owns it.
type outbox struct {
	posted   shelf[posted]     // by msg
	requests map[uint64]uint64 // msg by the id of the request
	last     uint64
	waiting  int // not settled
	runtime  *Runtime
}

func newOutbox(r *Runtime) *outbox {
	return &outbox{requests: map[uint64]uint64{}, runtime: r}
}

func (o *outbox) took(p *posted) time.Duration { return o.runtime.options.Clock().Sub(p.start) }

// postInput is a message to be posted.
type postInput struct{ posted *posted }

func (in postInput) apply(l *loop) {
	p := in.posted
	l.outbox.last++
	p.event.Msg = l.outbox.last
	l.outbox.posted.put(p.event.Msg, p)
	l.outbox.waiting++
	if p.request != 0 {
		l.outbox.requests[p.request] = p.event.Msg
	}
	l.tell(&p.event)
	if p.sent.stored != nil {
		l.whenStored(p.inStore)
	}
}

// remember takes a message of the former life.
func (o *outbox) remember(p *posted) {
	p.start, p.sent.runtime, p.sent.posted = o.runtime.options.Clock(), o.runtime, p
	o.posted.put(p.event.Msg, p)
	o.waiting++
	if p.request != 0 {
		o.requests[p.request] = p.event.Msg
	}
}

// unsettled are those of which the sender does not know what became of them, in the order of posting.
func (o *outbox) unsettled() []*posted {
	return slices.DeleteFunc(o.posted.all(), func(p *posted) bool { return p.settled })
}

// abandoned is a message that nobody waits for any more.
type abandoned struct{ posted *posted }

func (in abandoned) apply(l *loop) {
	p := in.posted
	if p.settled {
		return
	}
	if p.request != 0 {
		l.tell(&engine.AnswerReceived{Msg: p.event.Msg})
	}
	l.outbox.reject(p, &Error{Code: Cancelled, To: p.event.To.String(), Maybe: true})
}

// slice is a part of the content of a posted message, which leaves on a path. It is nil if there is no such part.
func (o *outbox) slice(part engine.Part, path Path) []byte {
	p := o.posted.get(part.Msg)
	if p == nil || part.Offset < 0 || part.Length < 0 || part.Offset > len(p.content) || part.Length > len(p.content)-part.Offset {
		return nil
	}
	p.path, p.left = path, true
	return p.content[part.Offset : part.Offset+part.Length]
}

// leaves records that a part of a message leaves on a path.
func (o *outbox) leaves(msg uint64, path Path) {
	if p := o.posted.get(msg); p != nil {
		p.path, p.left = path, true
	}
}

// settle tells the sender what the machine says of a message.
func (o *outbox) settle(e *engine.Settle) {
	p := o.posted.get(e.Msg)
	switch {
	case p == nil || p.settled:
	case e.Outcome == "rejected":
		o.reject(p, &Error{Code: Code(e.Reason), To: p.event.To.String(), Maybe: e.Maybe, Err: o.runtime.cause(Code(e.Reason), p.event.To)})
	case p.fault != nil:
		o.reject(p, p.fault)
	case p.request == 0:
		p.sent.receipt = Receipt{Delivered: e.Outcome == "delivered", Path: p.path, Took: o.took(p)}
		o.done(p)
	}
}

func (o *outbox) giveUp(msg uint64) {
	if p := o.posted.get(msg); p != nil && !p.settled {
		o.reject(p, &Error{Code: NoAnswer, To: p.event.To.String(), Maybe: true})
	}
}

func (o *outbox) release(msg uint64) {
	if p := o.posted.get(msg); p != nil {
		p.content = nil
		o.sweep(p)
	}
}

// answered takes an answer, and gives the message that it answers. It is false if nobody waits for it.
func (o *outbox) answered(m *Message) (msg uint64, ok bool) {
	msg, ok = o.requests[m.content.ID]
	p := o.posted.get(msg)
	if !ok || p == nil || p.event.From.String() != m.To || p.event.To.String() != m.From || m.Code < 200 {
		return 0, false
	}
	if m.Code >= 400 {
		e := &Error{Code: Refused, To: m.From, Answer: m, Err: fmt.Errorf("the answer has code %d", m.Code)}
		if m.Code == 404 {
			e.Code = NotFound
		}
		o.reject(p, e)
		return msg, true
	}
	p.sent.answer = m
	p.sent.receipt = Receipt{Delivered: true, Path: p.path, Took: o.took(p)}
	o.done(p)
	return msg, true
}

func (o *outbox) reject(p *posted, err error) {
	if p.settled {
		return
	}
	p.sent.err = err
	o.done(p)
}

// leftOut rejects a message that the machine could not take: it is never released.
func (o *outbox) leftOut(msg uint64, err error) {
	if p := o.posted.get(msg); p != nil {
		p.content = nil
		o.reject(p, &Error{Code: Broken, To: p.event.To.String(), Err: err})
		o.sweep(p)
	}
}

// rejectAll ends everything.
func (o *outbox) rejectAll(code Code, cause error) {
	for _, p := range o.posted.all() {
		p.content = nil
		o.reject(p, &Error{Code: code, To: p.event.To.String(), Maybe: p.left, Err: cause})
		o.sweep(p)
	}
}

func (o *outbox) done(p *posted) {
	p.settled = true
	o.waiting--
	p.inStore()
	p.sent.end()
	if p.request != 0 {
		delete(o.requests, p.request)
	}
	o.sweep(p)
}

// sweep forgets a message that is both settled and released.
func (o *outbox) sweep(p *posted) {
	if p.settled && p.content == nil {
		o.posted.drop(p.event.Msg)
	}
}

// plain makes the JSON form of a posted message, for a node or runtime that knows no other. If there is none, the message
// will be rejected.
func (o *outbox) plain(msg uint64, newID func() uint64) (message.Envelope, bool) {
	p := o.posted.get(msg)
	if p == nil {
		return message.Envelope{}, false
	}
	c, err := message.ReadContent(p.content)
	if err == nil && c.Form == message.Bytes {
		err = fmt.Errorf("the receiver takes JSON only, and this is bytes")
	}
	if err != nil {
		p.fault = &Error{Code: UnsupportedPayload, To: p.event.To.String(), Err: err}
		return message.Envelope{}, false
	}
	e := message.Envelope{ID: c.ID, Type: c.Type, From: p.event.From.String(), To: p.event.To.String(), Body: plainBody(&c)}
	if e.ID == 0 {
		e.ID = newID()
	}
	if e.Type == message.None {
		e.Type = message.Event
	}
	p.path, p.left = Relay, true
	return e, true
}

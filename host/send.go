package host

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/message"
)

// answerTime is how long a request waits for its answer once it left, unless the draft says otherwise.
const answerTime = 15 * time.Second

// Draft is a message to be sent.
type Draft struct {
	From  string // an address that is registered here; empty: the runtime's own
	To    string
	Value any // a string, a []byte, a json.RawMessage, or anything that json.Marshal takes

	// Type is what the message is for in the JSON world: create, read, update, delete, subscribe, unsubscribe, forward,
	// execute or event. Between runtimes of this kind it may be empty.
	Type string
	// Lane names a stream of its own to that receiver. Order is kept within a lane only, and lanes share the path in turn: what is
	// long, in a lane of its own, holds up nothing else. At most 64 bytes.
	Lane string
	// RelayOnly keeps the message off peer connections.
	RelayOnly bool
	// Deadline is how long it may take until it is delivered, or it fails as Expired. 0: 30 s.
	Deadline time.Duration
	// AnswerWithin is how long Ask waits for the answer once the message left. 0: 15 s.
	AnswerWithin time.Duration
}

// Receipt says how a message went.
type Receipt struct {
	// Delivered: its listener has it. If not, a Message Node took it and does not say more.
	Delivered bool
	// Path is how it last went.
	Path Path
	// Took is how long it took until that was known here.
	Took time.Duration
}

// Sent is a message on its way.
type Sent struct {
	runtime *Runtime
	posted  *posted       // whose part this is; nil: it was never posted
	stored  chan struct{} // nil without a store

	// Written before the end, and never after it.
	receipt Receipt
	answer  *Message
	err     error

	over atomic.Bool
	mu   sync.Mutex
	done chan struct{} // once somebody asked for it
}

// ended is the channel of all that ended before somebody asked.
var ended = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done is closed when it is known what became of the message.
func (s *Sent) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.done != nil:
	case s.over.Load():
		s.done = ended
	default:
		s.done = make(chan struct{})
	}
	return s.done
}

// end says that it is known.
func (s *Sent) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over.Store(true)
	if s.done != nil {
		close(s.done)
	}
}

// Stored is closed when the message is in the runtime's store (Options.Store), from where it goes on even if this process dies; without a
// store, or if it never gets there, when it is Done.
func (s *Sent) Stored() <-chan struct{} {
	if s.stored == nil {
		return s.Done()
	}
	return s.stored
}

// Result is how the message went, or an *Error. It waits until that is known.
func (s *Sent) Result() (Receipt, error) {
	if !s.over.Load() {
		<-s.Done()
	}
	return s.receipt, s.err
}

// Wait is Result until ctx ends: then the error is an *Error with the code Cancelled, or Expired if ctx had a deadline. The
// message may be delivered all the same.
func (s *Sent) Wait(ctx context.Context) (Receipt, error) {
	if s.over.Load() {
		return s.receipt, s.err
	}
	select {
	case <-s.Done():
		return s.receipt, s.err
	case <-ctx.Done():
		s.runtime.inbox.put(abandoned{s.posted})
		return Receipt{}, contextError(ctx)
	}
}

func contextError(ctx context.Context) error {
	e := &Error{Code: Cancelled, Maybe: true, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Code = Expired
	}
	return e
}

func failed(err error) *Sent {
	s := &Sent{err: err}
	s.over.Store(true)
	return s
}

// Send sends a value, as Draft.Value, from the runtime's own address and waits until its listener has it; at a Message Node
// that does not say more, until that took it. The error is an *Error.
func (r *Runtime) Send(ctx context.Context, to string, value any) error {
	_, err := r.Post(withDeadline(ctx, Draft{To: to, Value: value})).Wait(ctx)
	return err
}

// Request sends a value and waits for the answer. The error is an *Error; an answer with a code of 400 or above is one.
func (r *Runtime) Request(ctx context.Context, to string, value any) (*Message, error) {
	return r.Ask(ctx, Draft{To: to, Value: value})
}

// Ask is Request with all that a draft can say.
func (r *Runtime) Ask(ctx context.Context, d Draft) (*Message, error) {
	d = withDeadline(ctx, d)
	within := d.AnswerWithin
	if within <= 0 {
		within = answerTime
	}
	s := r.post(d, func(c *message.Content, p *posted) {
		c.Request, c.ID = true, r.lastID.Add(1)
		p.request, p.event.Answer = c.ID, milliseconds(within)
	})
	_, err := s.Wait(ctx)
	return s.answer, err
}

// Post sends a message and does not wait. Messages of one sender to one receiver arrive in the order of the calls.
func (r *Runtime) Post(d Draft) *Sent {
	return r.post(d, func(*message.Content, *posted) {})
}

// withDeadline makes the message expire a little before its sender stops to wait, so that the sender hears why.
func withDeadline(ctx context.Context, d Draft) Draft {
	if at, ok := ctx.Deadline(); ok && d.Deadline == 0 {
		left := time.Until(at)
		d.Deadline = max(left-min(left/10, 50*time.Millisecond), time.Millisecond)
	}
	return d
}

func milliseconds(d time.Duration) uint64 {
	return uint64((d + time.Millisecond - 1) / time.Millisecond)
}

// posted is a message that was posted here.
type posted struct {
	content []byte // until it is released
	event   engine.MessagePosted
	request uint64 // the id of a request
	sent    Sent
	start   time.Time
	path    Path
	left    bool  // some of it, at least, left this runtime
	fault   error // it can not go the way that the machine chose
	settled bool
	kept    bool // in the store
}

// inStore says that the message is in the store, or will never be.
func (p *posted) inStore() {
	if !p.kept && p.sent.stored != nil {
		p.kept = true
		close(p.sent.stored)
	}
}

// post makes the content and hands it to the loop.
func (r *Runtime) post(d Draft, kind func(*message.Content, *posted)) *Sent {
	p := &posted{start: r.options.Clock()}
	if err := r.write(d, p, kind); err != nil {
		return failed(err)
	}
	p.sent.runtime, p.sent.posted = r, p
	if r.options.Store != "" {
		p.sent.stored = make(chan struct{})
	}
	if r.closing.Load() {
		return failed(&Error{Code: Closed, To: d.To})
	}
	own, ok := r.inbox.putLone(postInput{p})
	if !ok {
		return failed(&Error{Code: Closed, To: d.To})
	}
	if own {
		r.loop.runHere()
	}
	return &p.sent
}

func (r *Runtime) write(d Draft, p *posted, kind func(*message.Content, *posted)) error {
	var err error
	e := &p.event
	if e.To, err = r.address(d.To); err != nil {
		return &Error{Code: BadAddress, To: d.To, Err: err}
	}
	e.From = r.own.address
	if d.From != "" {
		if e.From, err = r.address(d.From); err != nil {
			return &Error{Code: BadAddress, To: d.To, Err: err}
		}
	}
	var c message.Content
	if c.Form, c.Body, err = encode(d.Value); err != nil {
		return err
	}
	if d.Type != "" {
		if c.Type = message.TypeNamed(d.Type); c.Type == message.None || c.Type > message.Event {
			return badOption("%q is no type of message", d.Type)
		}
	}
	kind(&c, p)
	if p.content, err = c.Append(make([]byte, 0, contentHead+len(c.Body))); err != nil {
		return &Error{Code: UnsupportedPayload, To: d.To, Err: err}
	}
	e.Size, e.Lane = len(p.content), d.Lane
	if d.Deadline > 0 {
		e.Deadline = milliseconds(d.Deadline)
	}
	if d.RelayOnly {
		e.Wish = engine.WishNever
	}
	return nil
}

// contentHead is how much of a content stands before its body, at most.
const contentHead = 2 + 8 + 8

// address reads an address. The own one, and the one that was read last, are known.
func (r *Runtime) address(text string) (address.Address, error) {
	if text == r.own.address.String() {
		return r.own.address, nil
	}
	if last := r.lastRead.Load(); last != nil && last.String() == text {
		return *last, nil
	}
	a, err := address.Parse(text)
	if err == nil {
		r.lastRead.Store(&a)
	}
	return a, err
}

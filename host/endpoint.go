package host

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// A Listener takes messages, one at a time and in order. A message counts as delivered when the call begins; with Options.Store, when it
// returned. While one is at
// work the next ones wait at their senders, in the end: what takes long belongs into a goroutine.
type Listener func(*Message)

// Endpoint is an address of this runtime. What comes to it is taken by one of Listen, Messages and Receive; what nobody takes
// is not confirmed to its sender, who then slows down.
type Endpoint struct {
	runtime *Runtime
	address address.Address

	fresh []*Message // of the step under way; the loop's

	mu     sync.Mutex
	queue  []*Message
	popped int           // of queue
	ready  chan struct{} // holds a token while something waits
	closed chan struct{}
	once   sync.Once

	inHand *Message // with a store: what Receive gave last

	claimed chan struct{} // closed when the Domain Registry answered for the first time
	code    uint64        // what it answered
}

// takeHeld tells the machine that what Receive gave last was taken.
func (l *loop) takeHeld(e *Endpoint) {
	if m := e.hold(nil); m != nil && !m.taken.Swap(true) {
		l.tell(&m.delivery)
	}
}

func newEndpoint(r *Runtime, a address.Address) *Endpoint {
	return &Endpoint{runtime: r, address: a, ready: make(chan struct{}, 1), closed: make(chan struct{}), claimed: make(chan struct{})}
}

// Register listens at an address: a name, which stands for hyperty://<own domain>/<name>, or a whole address. A listener that
// is nil can be given later. It does not wait for the Domain Registry: see Registered.
func (r *Runtime) Register(name string, listener Listener) (*Endpoint, error) {
	a, err := readAddress(name, r.domain)
	if err != nil {
		return nil, err
	}
	e := newEndpoint(r, a)
	result := make(chan error, 1)
	if r.closing.Load() || !r.inbox.put(registerInput{e, result}) {
		return nil, &Error{Code: Closed, To: a.String()}
	}
	select {
	case err = <-result:
	case <-r.done:
		err = &Error{Code: Closed, To: a.String()}
	}
	if err != nil {
		return nil, err
	}
	if listener != nil {
		e.Listen(listener)
	}
	return e, nil
}

// registerInput is an endpoint that begins.
type registerInput struct {
	endpoint *Endpoint
	result   chan error
}

func (in registerInput) apply(l *loop) {
	e := in.endpoint
	if l.endpoints[e.address] != nil {
		in.result <- &Error{Code: BadAddress, To: e.address.String(), Err: errTakenHere}
		return
	}
	l.endpoints[e.address] = e
	l.tell(&engine.EndpointRegistered{Address: e.address})
	in.result <- nil
}

// unregisterInput is an endpoint that ends.
type unregisterInput struct{ endpoint *Endpoint }

func (in unregisterInput) apply(l *loop) {
	e := in.endpoint
	if l.endpoints[e.address] != e {
		return
	}
	delete(l.endpoints, e.address)
	l.tell(&engine.EndpointUnregistered{Address: e.address})
	l.takeHeld(e)
	e.mu.Lock()
	queue := e.queue[e.popped:]
	e.queue, e.popped = nil, 0
	e.mu.Unlock()
	for _, m := range queue {
		l.tell(&engine.DeliveryRefused{Delivery: m.delivery.Delivery, Reason: string(NoListener)})
	}
}

// Address is where others reach this endpoint.
func (e *Endpoint) Address() string { return e.address.String() }

// Close stops to listen. The runtime's own endpoint goes with its runtime only.
func (e *Endpoint) Close() {
	if e != e.runtime.own {
		e.end()
		e.runtime.inbox.put(unregisterInput{e})
	}
}

func (e *Endpoint) end() { e.once.Do(func() { close(e.closed) }) }

// Registered waits until the Domain Registry has an entry of this address, so that others find it. The error is an *Error:
// NameTaken if the address belongs to another runtime.
func (e *Endpoint) Registered(ctx context.Context) error {
	select {
	case <-e.claimed:
	case <-e.closed:
		return &Error{Code: Closed, To: e.Address()}
	case <-ctx.Done():
		return contextError(ctx)
	}
	switch e.code {
	case 200:
		return nil
	case 403:
		return &Error{Code: NameTaken, To: e.Address()}
	}
	return &Error{Code: Refused, To: e.Address(), Err: codeError(e.code)}
}

// claim records what the Domain Registry answered first. The loop's goroutine calls it.
func (e *Endpoint) claim(code uint64) {
	select {
	case <-e.claimed:
	default:
		e.code = code
		close(e.claimed)
	}
}

// push hands what is fresh to whoever takes it.
func (e *Endpoint) push() {
	e.mu.Lock()
	if e.popped > 0 && len(e.queue)+len(e.fresh) > cap(e.queue) {
		left := copy(e.queue, e.queue[e.popped:])
		clear(e.queue[left:])
		e.queue, e.popped = e.queue[:left], 0
	}
	e.queue = append(e.queue, e.fresh...)
	e.mu.Unlock()
	clear(e.fresh)
	e.fresh = e.fresh[:0]
	e.nudge()
}

func (e *Endpoint) nudge() {
	select {
	case e.ready <- struct{}{}:
	default:
	}
}

// pop gives the next message, or nil.
func (e *Endpoint) pop() *Message {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.popped == len(e.queue) {
		return nil
	}
	m := e.queue[e.popped]
	e.queue[e.popped] = nil
	if e.popped++; e.popped == len(e.queue) {
		e.queue, e.popped = e.queue[:0], 0
	} else {
		e.nudge()
	}
	return m
}

// next waits for a message. It fails when ctx or the endpoint ends.
func (e *Endpoint) next(ctx context.Context) (*Message, error) {
	for {
		select {
		case <-e.closed:
			return nil, &Error{Code: Closed, To: e.Address()}
		case <-ctx.Done():
			return nil, contextError(ctx)
		default:
		}
		if m := e.pop(); m != nil {
			return m, nil
		}
		// What was taken is told together with what those post whom the listener woke.
		runtime.Gosched()
		if e.runtime.inbox.claim() {
			e.runtime.loop.runHere()
		}
		select {
		case <-e.ready:
		case <-e.closed:
		case <-ctx.Done():
			return nil, contextError(ctx)
		}
	}
}

// take tells that a message was taken. With a store it waits until that is stored: nothing else is in hand before.
func (e *Endpoint) take(m *Message) {
	if m.taken.Swap(true) {
		return
	}
	if e.runtime.options.Store == "" {
		e.runtime.inbox.putLate((*takenMessage)(m))
		return
	}
	stored := make(chan struct{})
	if e.runtime.inbox.put(takenInput{m.delivery.Delivery, stored}) {
		select {
		case <-stored:
		case <-e.runtime.done:
		}
	}
}

// hold notes what Receive gives, where that counts only later, and gives what it gave before.
func (e *Endpoint) hold(m *Message) (before *Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, e.inHand = e.inHand, m
	return before
}

// handled tells that what Receive gave was taken.
func (e *Endpoint) handled() {
	if m := e.hold(nil); m != nil {
		e.take(m)
	}
}

// Receive takes the next message. It fails when ctx or the endpoint ends. With Options.Store, the message that it gave before counts as
// handled then, and is confirmed to its sender; Message.Taken says so earlier.
func (e *Endpoint) Receive(ctx context.Context) (*Message, error) {
	e.handled()
	m, err := e.next(ctx)
	if err != nil {
		return nil, err
	}
	if e.runtime.options.Store == "" {
		e.take(m)
	} else {
		e.hold(m)
	}
	return m, nil
}

// Messages takes messages one after the other, until ctx or the endpoint ends.
func (e *Endpoint) Messages(ctx context.Context) iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		e.handled()
		for {
			m, err := e.next(ctx)
			if err != nil {
				return
			}
			if e.runtime.options.Store == "" {
				e.take(m)
			}
			more := yield(m)
			e.take(m)
			if !more {
				return
			}
		}
	}
}

// Listen gives all messages from now on to listener, in a goroutine of its own.
func (e *Endpoint) Listen(listener Listener) {
	go func() {
		for m := range e.Messages(context.Background()) {
			listener(m)
		}
	}()
}

// takenMessage is a message that was taken, where nobody waits for that to be stored.
type takenMessage Message

func (m *takenMessage) apply(l *loop) { l.tell(&m.delivery) }

// takenInput is the number of a delivery that was taken.
type takenInput struct {
	number uint64
	stored chan struct{} // closed when it is stored; may be nil
}

func (in takenInput) apply(l *loop) {
	l.tell(&engine.DeliveryTaken{Delivery: in.number})
	if in.stored != nil {
		l.whenStored(func() { close(in.stored) })
	}
}

// Receive takes the next message to the runtime's own address.
func (r *Runtime) Receive(ctx context.Context) (*Message, error) { return r.own.Receive(ctx) }

// Messages takes the messages to the runtime's own address.
func (r *Runtime) Messages(ctx context.Context) iter.Seq[*Message] { return r.own.Messages(ctx) }

// Listen gives the messages to the runtime's own address to listener.
func (r *Runtime) Listen(listener Listener) { r.own.Listen(listener) }

// Registered is that of the runtime's own address.
func (r *Runtime) Registered(ctx context.Context) error { return r.own.Registered(ctx) }

package host

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/p2p"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
)

// patience is how long Close waits for what is on its way.
const patience = time.Second

// loop feeds the machine, and does what it answers. One goroutine at a time owns it, as the inbox says. It never waits for anything but
// its inbox.
type loop struct {
	runtime *Runtime
	machine machine.Machine
	keeper  *keeper   // nil: without a store
	start   time.Time // when the machine's clock stood at 1
	alarm   alarm
	trace   *trace

	batch  []input        // of a turn
	events []engine.Event // for the next step
	told   []engine.Event // of the last one, whose memory is used again
	frames frames
	outbox *outbox
	held   held

	endpoints    map[address.Address]*Endpoint
	reached      []*Endpoint // by messages of the step under way
	plain        map[uint64]plainIn
	lastPlain    uint64
	claims       map[uint64]*Endpoint // registrations under way, by job
	explanations map[uint64]chan Explanation
	counts       map[uint64]*counting
	lastJob      uint64
	paths        pathHistory

	nodes    map[uint64]*nodeStub
	peers    map[uint64]*peerStub
	p2p      *p2p.Endpoint
	first    *stubs.Socket // for the own domain's node stub
	draining sync.WaitGroup

	pieces  [][]byte // of the frame that is being sent
	closing *time.Timer
	late    bool // it has waited long enough
	over    bool
}

// tell makes an event part of the next step.
func (l *loop) tell(e engine.Event) { l.events = append(l.events, e) }

func (l *loop) problem(text string) { l.runtime.watchers.tell(Problem{Text: text}) }

// now is the time on the machine's clock, which begins at 1: to a machine, an instant of 0 is none.
func (l *loop) now() engine.Instant {
	return 1 + engine.Instant(max(l.runtime.options.Clock().Sub(l.start), 0)/time.Millisecond)
}

// run is the loop's goroutine. effects are those of the machine's start.
func (l *loop) run(effects []engine.Effect) {
	for _, e := range effects {
		l.do(e)
	}
	l.steps()
	for inbox := l.runtime.inbox; !l.over; {
		l.turn()
		if !l.over && inbox.release() {
			<-inbox.wake
		}
	}
}

// runHere runs the loop in the goroutine that just became its owner, for as long as can be spared.
func (l *loop) runHere() {
	for range 2 {
		l.turn()
		if l.over {
			break
		}
		if l.runtime.inbox.release() {
			return
		}
	}
	l.runtime.inbox.pass()
}

// turn takes what waits, and tells the machine.
func (l *loop) turn() {
	l.batch = l.runtime.inbox.take(l.batch[:0])
	for _, in := range l.batch {
		in.apply(l)
	}
	clear(l.batch)
	l.steps()
	if !l.over && l.closing != nil && (l.late || l.outbox.waiting == 0) {
		l.leave()
	}
}

// steps tells the machine all that there is. What the effects of a step say to the machine is told in a step of its own.
func (l *loop) steps() {
	for len(l.events) > 0 && !l.over {
		l.step()
	}
}

// step tells the machine what happened, and does what it answers.
func (l *loop) step() {
	events := l.events
	l.events = l.told[:0]
	l.feed(events)
	l.frames.clear()
	clear(events)
	l.told = events
}

func (l *loop) feed(events []engine.Event) {
	now := l.now()
	l.trace.told(now, events)
	effects, err := l.machine.Step(now, events...)
	var trap *machine.TrapError
	switch {
	case err == nil:
		l.trace.answered(effects)
		if err := l.keepStep(now, events); err != nil {
			l.notKept(err)
			return
		}
		for _, e := range effects {
			l.do(e)
		}
		for i, e := range l.reached {
			e.push()
			l.reached[i] = nil
		}
		l.reached = l.reached[:0]
		l.held.settle()
		l.shorten()
	case errors.As(err, &trap) && len(events) > 1:
		// One of them is poison. The machine is as it was before them, so the others can be told one by one.
		l.trace.trapped(err)
		for _, e := range events {
			l.feed([]engine.Event{e})
		}
	case errors.As(err, &trap):
		l.trace.trapped(err)
		l.leaveOut(events[0], err)
	default:
		l.broke(err)
	}
}

// leaveOut forgets an event that the machine could not take.
func (l *loop) leaveOut(event engine.Event, err error) {
	l.problem(fmt.Sprintf("the machine could not take a %T: %v", event, err))
	switch e := event.(type) {
	case *engine.MessagePosted:
		l.outbox.leftOut(e.Msg, err)
	case *engine.JSONReceived:
		delete(l.plain, e.JSON)
	case *engine.StatsAsked:
		close(l.counts[e.Job].answer)
		delete(l.counts, e.Job)
	case *engine.ExplanationAsked:
		close(l.explanations[e.Job])
		delete(l.explanations, e.Job)
	}
}

// broke ends a loop whose machine is dead.
func (l *loop) broke(err error) {
	if l.over {
		return
	}
	l.problem("the machine broke: " + err.Error())
	l.outbox.rejectAll(Broken, err)
	l.over = true
}

// closeInput begins the end.
type closeInput struct{}

func (closeInput) apply(l *loop) {
	if l.closing == nil {
		l.closing = time.AfterFunc(patience, func() { l.runtime.inbox.put(lateInput{}) })
	}
}

// lateInput is the end of the patience of Close.
type lateInput struct{}

func (lateInput) apply(l *loop) { l.late = true }

// leave tells the machine that this runtime goes away, and ends the loop. With a store the runtime does not go away: it sleeps until its next life.
func (l *loop) leave() {
	if l.keeper != nil {
		l.rest()
		return
	}
	l.tell(&engine.Closing{})
	for turns := 0; len(l.events) > 0 && turns < 8 && !l.over; turns++ {
		l.step()
	}
	l.over = true
}

// shut frees everything, and returns when nothing is left.
func (l *loop) shut() {
	l.alarm.timer.Stop()
	if l.closing != nil {
		l.closing.Stop()
	}
	for _, in := range l.runtime.inbox.close() {
		switch in := in.input.(type) {
		case postInput:
			in.posted.sent.err = &Error{Code: Closed, To: in.posted.event.To.String()}
			in.posted.sent.end()
		case explainInput:
			close(in.answer)
		case statsInput:
			close(in.answer)
		}
	}
	l.outbox.rejectAll(Closed, nil)
	for _, answer := range l.explanations {
		close(answer)
	}
	for _, c := range l.counts {
		close(c.answer)
	}
	for _, e := range l.endpoints {
		e.end()
	}
	for stub := range l.nodes {
		l.closeStub(stub)
	}
	l.p2p.Close()
	if l.first != nil {
		l.first.Close()
	}
	l.draining.Wait()
	if err := l.machine.Close(); err != nil {
		l.problem(err.Error())
	}
	if err := l.keeper.end(); err != nil {
		l.problem(err.Error())
	}
	l.trace.end()
	l.runtime.watchers.close()
}

// deliver hands a message to the endpoint of its receiver, or to the request that it answers.
func (l *loop) deliver(e *engine.Deliver) {
	content, plain, err := l.content(e)
	if err != nil {
		l.problem("a message of " + e.From.String() + " can not be read: " + err.Error())
		l.tell(&engine.DeliveryRefused{Delivery: e.Delivery, Reason: string(UnsupportedPayload)})
		return
	}
	m := &Message{
		From: e.From.String(), To: e.To.String(), Path: Path(e.Path), Type: content.Type.String(), Code: content.Code,
		content: content, plain: plain, runtime: l.runtime,
	}
	if content.Response {
		// One that comes too late is taken all the same: nobody else wants it.
		if msg, ok := l.outbox.answered(m); ok {
			l.tell(&engine.AnswerReceived{Msg: msg})
		}
		l.tell(&engine.DeliveryTaken{Delivery: e.Delivery})
		return
	}
	endpoint := l.endpoints[e.To]
	if endpoint == nil {
		l.tell(&engine.DeliveryRefused{Delivery: e.Delivery, Reason: string(NoListener)})
		return
	}
	m.endpoint, m.delivery.Delivery = endpoint, e.Delivery
	if len(endpoint.fresh) == 0 {
		l.reached = append(l.reached, endpoint)
	}
	endpoint.fresh = append(endpoint.fresh, m)
}

// content is what a delivery is about. The body's own copy goes.
func (l *loop) content(e *engine.Deliver) (c message.Content, plain bool, err error) {
	switch {
	case e.JSON != 0:
		in, ok := l.plain[e.JSON]
		if !ok {
			return c, true, errors.New("it is not here any more")
		}
		delete(l.plain, e.JSON)
		return contentOf(in.envelope), true, nil
	case e.Msg != 0:
		p := l.outbox.posted.get(e.Msg)
		if p == nil || p.content == nil {
			return c, false, errors.New("it is not here any more")
		}
		p.path = Local
		// The sender's copy may be wanted again; the receiver's is the receiver's.
		c, err = message.ReadContent(append([]byte(nil), p.content...))
		return c, false, err
	}
	whole, err := l.held.take(e.Session, e.First, e.Last)
	if err != nil {
		return c, false, err
	}
	c, err = message.ReadContent(whole)
	return c, false, err
}

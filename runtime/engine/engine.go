package engine

import (
	"errors"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/agenda"
	"github.com/hyroute/hyroute/runtime/ledger"
	"github.com/hyroute/hyroute/runtime/order"
	"github.com/hyroute/hyroute/runtime/pool"
	"github.com/hyroute/hyroute/runtime/random"
	"github.com/hyroute/hyroute/runtime/resolver"
	"github.com/hyroute/hyroute/runtime/session"
)

// Instant is a point in time in milliseconds, on a clock of the body that never goes back.
type Instant uint64

// Config is what a machine starts from.
type Config struct {
	Runtime address.Address // own runtime URL
	Wall    uint64          // ms since 1970
	Seed    uint64          // all randomness comes from it
	Domains []string        // further domains whose node may be used
	Direct  bool            // the body can make peer connections
}

// Engine is the machine.
type Engine struct {
	config   Config
	numbers  Numbers
	now      uint64
	random   *random.Source
	resolver *resolver.Resolver
	sessions *session.Table
	effects  []Effect
	woken    uint64 // the Wake given last
	closed   bool

	ids       ids
	messages  ledger.Ledger[*message]
	spare     pool.Spare[*message]
	again     int // how many of them were in the hand of a listener when a former life ended
	endpoints map[address.Address]*endpoint
	farewells map[address.Address]*farewell
	nodes     []*node
	lookups   map[address.Address]*lookup
	jobs      map[uint64]job
	peerings  map[address.Address]*peering
	courted   *peering // of them, that was wanted last
	stubs     map[uint64]*peering
	engaged   int      // peerings that are not apart
	invited   []uint64 // when others asked for a peer connection, in the last minute
	handed    ledger.Ledger[*handed]
	blank     pool.Spare[*handed]
	flights   map[flight]*aloft
	launched  *aloft          // last
	course    *resolver.Route // that the last one launched took
	bound     binding
	routes    map[flow]*route
	noted     *resolver.Route // last
	alarms    agenda.Agenda[*bell]
	lent      lent
}

// lent are effects, good until the next Step.
type lent struct {
	deliver pool.Pool[*Deliver]
	over    pool.Pool[*over]
	wake    Wake
}

// over is what is said of a message at its end.
type over struct {
	settle  Settle
	release Release
}

// ids are the numbers given last.
type ids struct{ object, stub, job, delivery uint64 }

// alarm is something that is due at a time. An agenda entry counts only as long as the object still names its time, and has the
// number that it was entered by: a message may have become another one.
type alarm interface {
	numbered
	due() uint64
	ring(e *Engine)
}

// bell is an alarm on the agenda. It is a pointer as in the other agendas: an interface would have all of package agenda compiled anew.
type bell struct{ alarm }

// job is a question to the body.
type job interface {
	answered(e *Engine, a *RegistryAnswered)
	stubOf() uint64
}

// New makes a machine, and the effects of its start.
func New(c Config) (*Engine, []Effect, error) {
	if !c.Runtime.IsRuntime() {
		return nil, nil, errors.New("engine: runtime: " + c.Runtime.String() + " is not a runtime URL")
	}
	e := empty(c)
	e.node(c.Runtime.Domain())
	effects := e.finish()
	e.effects = nil
	return e, effects, nil
}

func empty(c Config) *Engine {
	n := DefaultNumbers()
	source := random.New(c.Seed)
	return &Engine{
		config: c, numbers: n, random: source,
		resolver:  resolver.New(c.Runtime, c.Domains, c.Direct, n.Resolver),
		sessions:  session.New(c.Runtime, c.Wall, source, n.Session),
		endpoints: map[address.Address]*endpoint{},
		farewells: map[address.Address]*farewell{},
		lookups:   map[address.Address]*lookup{},
		jobs:      map[uint64]job{},
		peerings:  map[address.Address]*peering{},
		stubs:     map[uint64]*peering{},
		flights:   map[flight]*aloft{},
		routes:    map[flow]*route{},
	}
}

// Step takes events and returns all effects; the slice and what it leads to are used again by the next Step. It does not fail: an event
// that makes no sense changes nothing.
func (e *Engine) Step(now Instant, events ...Event) []Effect {
	e.effects = e.effects[:0]
	e.lent.deliver.Reset()
	e.lent.over.Reset()
	e.now = max(e.now, uint64(now))
	e.resolver.Advance(e.now)
	e.sessions.Advance(e.now)
	for _, ev := range events {
		if _, back := ev.(*Restored); e.closed && !back {
			continue
		}
		e.handle(ev)
		e.carryOut()
	}
	return e.finish()
}

// finish does what is due, and ends a Step.
func (e *Engine) finish() []Effect {
	for !e.closed {
		at, id, a, ok := e.alarms.First()
		if !ok || at > e.now {
			break
		}
		e.alarms.Remove()
		if a.due() == at && a.number() == id {
			a.ring(e)
		}
	}
	for !e.closed {
		e.sessions.Flush()
		if !e.carryOut() {
			break
		}
	}
	e.wake()
	return e.effects
}

func (e *Engine) wake() {
	at := uint64(0)
	if !e.closed {
		at = e.sessions.Wake()
		for {
			due, id, a, ok := e.alarms.First()
			if !ok {
				break
			}
			if a.due() != due || a.number() != id {
				e.alarms.Remove()
				continue
			}
			if at == 0 || due < at {
				at = due
			}
			break
		}
	}
	if e.woken != 0 && e.woken <= e.now {
		e.woken = 0 // that timer has fired
	}
	if at != e.woken {
		e.woken = at
		e.lent.wake.At = Instant(at)
		e.emit(&e.lent.wake)
	}
}

// emit stands in many places: inlined, it and the like of it in package session are 7 KB of the module.
//
//go:noinline
func (e *Engine) emit(f Effect) { e.effects = append(e.effects, f) }

// at puts an alarm on the agenda for its time.
//
//go:noinline
func (e *Engine) at(id uint64, a alarm) {
	if due := a.due(); due != 0 {
		e.alarms.Add(due, id, &bell{a})
	}
}

func (e *Engine) newID() uint64 {
	e.ids.object++
	return e.ids.object
}

func (e *Engine) newStub() uint64 {
	e.ids.stub++
	return e.ids.stub
}

//go:noinline
func (e *Engine) newJob(j job) uint64 {
	e.ids.job++
	if j != nil {
		e.jobs[e.ids.job] = j
	}
	return e.ids.job
}

func (e *Engine) handle(ev Event) {
	switch ev := ev.(type) {
	case *EndpointRegistered:
		e.endpointRegistered(ev.Address)
	case *EndpointUnregistered:
		e.endpointUnregistered(ev.Address)
	case *MessagePosted:
		e.messagePosted(ev)
	case *AnswerReceived:
		e.answerReceived(ev.Msg)
	case *FrameReceived:
		e.sessions.FrameReceived(ev.Stub, ev.Handle, ev.Frame, ev.Head, ev.Size)
	case *HandleNamed:
		if e.vouches(ev.Stub, ev.Runtime.Domain()) {
			e.sessions.HandleNamed(ev.Stub, ev.Handle, ev.Runtime)
		}
	case *NoticeReceived:
		e.sessions.Notice(ev.Stub, ev.Handle, ev.Reason)
	case *JSONReceived:
		e.jsonReceived(ev)
	case *StubChanged:
		e.stubChanged(ev)
	case *StubBlocked:
		e.sessions.Blocked(ev.Stub, true)
	case *StubWritable:
		e.sessions.Blocked(ev.Stub, false)
	case *RegistryAnswered:
		if j := e.jobs[ev.Job]; j != nil {
			delete(e.jobs, ev.Job)
			j.answered(e, ev)
		}
	case *RegistrationNotified:
		e.registrationNotified(ev)
	case *SignalReceived:
		e.signalReceived(ev)
	case *PeerListed:
		e.peerListed(ev)
	case *NetworkChanged:
		e.networkChanged()
	case *DeliveryTaken:
		e.deliveryTaken(ev.Delivery)
	case *DeliveryRefused:
		e.deliveryRefused(ev.Delivery, ev.Reason)
	case *ExplanationAsked:
		e.explain(ev)
	case *Restored:
		e.restored(ev)
	case *StatsAsked:
		e.stats(ev.Job)
	case *Closing:
		e.close()
	case *TimePassed:
	}
}

// carryOut turns the sessions' actions into effects. It says whether there were any.
func (e *Engine) carryOut() bool {
	actions := e.sessions.Actions()
	for _, a := range actions {
		switch a := a.(type) {
		case *session.Name:
			e.emit(&NameHandle{Stub: a.Stub, Handle: a.Handle, Runtime: a.Peer})
		case *session.Transmit:
			e.emit((*Transmit)(a))
		case *session.Hold:
			e.emit((*Hold)(a))
		case *session.Drop:
			e.emit((*Drop)(a))
		case *session.Arrived:
			e.arrived(a)
		case *session.Settled:
			e.sessionSettled(a)
		case *session.Preferred:
			e.preferred(a)
		case *session.StreamReset:
			e.emit(&SessionReset{Peer: a.Peer, Session: a.Session, Doubt: a.Doubt, Reason: a.Reason})
		case *session.Gap:
			e.dropArrivals(a.Session)
			e.emit(&Gap{Peer: a.Peer, Session: a.Session})
		case *session.Presence:
			status := "disconnected"
			if a.Live {
				status = "live"
			}
			e.emit(&PresenceChanged{Peer: a.Peer, Status: status, Reason: a.Reason})
		case *session.CloseChannel:
			e.closePeerStub(a.Stub, "surplus")
		case *session.RestartChannel:
			if p := e.stubs[a.Stub]; p != nil && !e.restarting(p) {
				e.restart(p)
			}
		}
	}
	return len(actions) > 0
}

// close rejects everything that waits, and ends the machine.
func (e *Engine) close() {
	e.sessions.Close()
	e.carryOut()
	for _, m := range sorted(e.messages.Values()) {
		if !m.settled {
			e.reject(m, "closed", m.handed != 0 || m.again)
		}
	}
	for _, p := range inOrder(e.peerings) {
		e.hangUp(p)
	}
	for _, n := range e.nodes {
		e.emit(&CloseStub{Stub: n.stub})
	}
	e.closed = true
}

// numbered is what has a number that orders it.
type numbered interface{ number() uint64 }

// inOrder gives the values of a table in the order of their numbers: map order must not reach the output.
func inOrder[K comparable, V numbered](table map[K]V) []V {
	all := make([]V, 0, len(table))
	for _, v := range table {
		all = append(all, v)
	}
	return sorted(all)
}

// sorted puts things in the order of their numbers.
func sorted[V numbered](all []V) []V {
	order.Sort(len(all), func(i, j int) bool { return all[i].number() < all[j].number() }, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

package world

import (
	"bytes"
	"strconv"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/scenarios/history"
)

// body plays the part of host/ or web/: it tells its machine what happened and does what that answers.
type body struct {
	w      *World
	index  int
	name   string // one letter, as in the URL
	url    address.Address
	domain string
	chance *chance

	alive     bool
	closing   bool
	putOut    bool // a twin took its place at a node
	life      int
	machine   machine.Machine
	journal   []step // since the last snapshot
	saved     []byte
	old       stored  // an earlier state, where the plan has old saves
	steps     int     // in this life
	doom      *doomed // nil: it does not die in its next step
	started   uint64  // ms of the world at which the machine's clock began
	clock     uint64  // latest time told
	stalled   bool
	stalls    int // counts stalls
	frozen    int // how many freezes last
	inbox     []engine.Event
	seen      []func() // to be run after the step on the inbox
	told      []*post  // posted in the inbox
	scheduled bool
	wake      engine.Instant // 0: never
	wakeTurn  int
	lastNow   engine.Instant // time of the last step
	stepsNow  int            // steps at that time

	endpoints  []*endpoint
	posts      map[uint64]*post
	order      []uint64 // posts not yet settled and released, in order
	held       map[uint64]map[uint64][]byte
	heldBytes  int
	frames     map[uint64][]byte // payload of the frames of this step
	inFrames   map[uint64][]byte // of the frames in the inbox
	plains     map[uint64]*plain
	deliveries map[uint64]*handed
	inHand     map[uint64]string // messages that listeners have and the machine does not know to be taken, by delivery
	returned   map[uint64]bool   // plain messages that their listener refused
	stubs      map[uint64]*stub
	stubOrder  []uint64
	jobs       map[uint64]*job
	jobOrder   []uint64
	asked      map[uint64]bool // explanations
	offers     map[offerKey]*channel
	marked     map[uint64]bool // stubs that the machine knows to be blocked
	offline    map[int]uint64  // node number -> until when it can not be reached
	rate       int             // bytes a ms, 0: no limit
	slow       int             // 0: takes at once, 1: late, 2: not at all, 3: refuses
	slowUntil  uint64
	forced     bool // stubs say blocked whatever the pipes say
	numbers    numbers
}

// numbers are what the body counts.
type numbers struct{ msg, frame, plain, explain uint64 }

// step is one call of the machine, for the journal.
type step struct {
	now    engine.Instant
	events []engine.Event
}

// endpoint is somebody who listens.
type endpoint struct {
	address address.Address
	present bool
	told    bool // what the machine knows
}

// post is a message posted here.
type post struct {
	id         identity
	event      engine.MessagePosted
	due        engine.Instant // when it must have settled; 0: the machine does not know of it yet
	content    []byte         // nil once released
	settled    bool
	outcome    string
	reason     string
	released   bool
	answered   bool // nobody waits for its answer any more
	toldAnswer bool // the machine knows that it came
	gaveUp     bool // the machine gave it up
}

// handed is a message handed to a listener that has not said yet whether it takes it.
type handed struct {
	refuse string
	json   uint64 // of a plain message
}

type stubKind uint8

const (
	nodeStub stubKind = iota
	peerStub
)

// stub is a Message Node stub or a peer stub.
type stub struct {
	id      uint64
	kind    stubKind
	domain  string
	socket  *socket
	token   bool
	dials   int
	peer    address.Address
	attempt uint64
	channel *channel
	closed  bool // by the machine
	failed  bool // told failed
}

// job is a question that the machine asked.
type job struct {
	at   engine.Instant
	what string
}

func newBody(w *World, index int) *body {
	p := w.plan.Bodies[index]
	b := &body{
		w: w, index: index, name: string(rune('a' + index)), domain: p.Domain,
		url:    address.MustParse(w.plan.RuntimeURL(index)),
		chance: newChance(w.plan.Seed, "body "+strconv.Itoa(index)),
	}
	for _, e := range p.Endpoints {
		b.endpoints = append(b.endpoints, &endpoint{address: address.MustParse(e), present: true})
	}
	b.offline = map[int]uint64{}
	return b
}

// wallAtStart is the wall clock at time 0 of the world.
const wallAtStart = 1_790_000_000_000

// forgetVolatile forgets what dies with a body in any case.
func (b *body) forgetVolatile() {
	b.inbox, b.seen, b.told, b.journal, b.wake = nil, nil, nil, nil, 0
	b.wakeTurn++
	b.held, b.heldBytes = map[uint64]map[uint64][]byte{}, 0
	b.frames, b.inFrames = map[uint64][]byte{}, map[uint64][]byte{}
	b.plains, b.deliveries, b.returned = map[uint64]*plain{}, map[uint64]*handed{}, map[uint64]bool{}
	b.inHand = map[uint64]string{}
	b.stubs, b.stubOrder = map[uint64]*stub{}, nil
	b.jobs, b.jobOrder, b.asked = map[uint64]*job{}, nil, map[uint64]bool{}
	b.offers, b.marked = map[offerKey]*channel{}, map[uint64]bool{}
}

// start makes a machine with no memory.
func (b *body) start() {
	b.alive, b.closing, b.stalled, b.scheduled, b.forced = true, false, false, false, false
	b.started, b.clock = b.w.now, 0
	b.posts, b.order = map[uint64]*post{}, nil
	b.forgetVolatile()
	b.numbers = numbers{}
	p := b.w.plan.Bodies[b.index]
	config := engine.Config{
		Runtime: b.url,
		Wall:    wallAtStart + b.w.now,
		Seed:    newChance(b.w.plan.Seed, b.name+strconv.Itoa(b.life)).next(),
		Domains: p.Domains,
		Direct:  p.Direct,
	}
	m, effects, err := b.w.kit.New(b.name, config)
	if err != nil {
		b.w.fail("start", "%s: %v", b.name, err)
		return
	}
	b.machine = m
	b.w.log(history.Record{End: b.url.String(), Kind: history.Started})
	b.save()
	b.keepOld()
	b.w.note(b, 0, nil, effects)
	b.doAll(effects)
	for _, e := range b.endpoints {
		e.told = false
		if e.present {
			b.register(e)
		}
	}
}

// die ends the machine and forgets all; what the others learn of it is the caller's.
func (b *body) die() {
	b.alive = false
	b.life++
	b.inbox, b.seen, b.told, b.doom = nil, nil, nil, nil
	if b.machine != nil {
		_ = b.machine.Close()
	}
	b.machine = nil
}

func (b *body) register(e *endpoint) {
	b.tell(&engine.EndpointRegistered{Address: e.address}, func() { e.told = true })
}

// now is the machine's clock.
func (b *body) nowHere() uint64 {
	if !b.stalled {
		b.clock = max(b.clock, b.w.now-b.started)
	}
	return b.clock
}

// tell puts an event in the inbox; after the machine's step on it, seen (if any) is run.
func (b *body) tell(e engine.Event, seen ...func()) {
	if !b.alive {
		return
	}
	b.seen = append(b.seen, seen...)
	b.inbox = append(b.inbox, e)
	b.schedule()
}

func (b *body) schedule() {
	if b.scheduled || b.frozen > 0 || !b.alive {
		return
	}
	b.scheduled = true
	life := b.life
	b.w.after(0, func() {
		if b.life == life {
			b.scheduled = false
			b.step()
		}
	})
}

// step gives the inbox to the machine and does what it answers.
func (b *body) step() {
	if !b.alive || b.frozen > 0 || len(b.inbox) == 0 || b.w.failure != nil {
		return
	}
	events, seen := b.inbox, b.seen
	b.inbox, b.seen = nil, nil
	b.frames, b.inFrames = b.inFrames, map[uint64][]byte{}
	now := engine.Instant(b.nowHere())
	for _, p := range b.told {
		p.due = now + 2*engine.Instant(deadlineOf(p))
	}
	b.told = nil
	if b.wake <= now {
		b.wake = 0 // what was asked for has come: who wants to be woken again asks again
	}
	b.unmark(events)
	effects, err := b.machine.Step(now, events...)
	if err != nil {
		b.w.fail("step-never-fails", "%s: %v", b.name, err)
		return
	}
	b.w.steps++
	b.journal = append(b.journal, step{now, events})
	b.w.note(b, now, events, effects)
	for _, e := range events {
		if e, ok := e.(*engine.DeliveryTaken); ok {
			delete(b.inHand, e.Delivery)
		}
	}
	if d := b.doom; d != nil {
		done := min(d.after-1, len(effects))
		d.notDone = len(effects) - done
		b.doAll(effects[:done])
		b.crash(d.action)
		return
	}
	b.doAll(effects)
	b.frames = nil
	b.mark(events)
	for _, f := range seen {
		f()
	}
	b.checkStep(now, events)
	if b.w.kit.Restore != nil && b.w.kit.Every > 0 && b.w.steps%b.w.kit.Every == 0 {
		b.trap()
	}
	if len(b.journal) >= 64 {
		b.save()
	}
	if b.steps++; b.steps%oldSaveEvery == 0 {
		b.keepOld()
	}
	if b.w.choose(choiceStep, 2) == 1 {
		doKill(b.w, Action{Who: b.index, For: exploredDelay})
	}
}

func (b *body) save() {
	s, err := b.machine.Snapshot()
	if err != nil {
		b.w.fail("snapshot", "%s: %v", b.name, err)
		return
	}
	b.saved, b.journal = s, nil
}

// trap replaces the machine by one made of the last snapshot and the journal since; it must be the same machine.
func (b *body) trap() {
	if !b.alive || b.w.kit.Restore == nil || b.w.failure != nil {
		return
	}
	m, err := b.w.kit.Restore(b.saved)
	if err != nil {
		b.w.fail("restore-is-equal", "%s: a snapshot of %d bytes can not be restored: %v", b.name, len(b.saved), err)
		return
	}
	for _, s := range b.journal {
		if _, err := m.Step(s.now, s.events...); err != nil {
			b.w.fail("restore-is-equal", "%s: the journal fails: %v", b.name, err)
			return
		}
	}
	was, err1 := b.machine.Snapshot()
	is, err2 := m.Snapshot()
	if err1 != nil || err2 != nil || !bytes.Equal(was, is) {
		b.w.fail("restore-is-equal", "%s: snapshot and journal of %d steps give another state than the machine had (%d and %d bytes; %v, %v)", b.name, len(b.journal), len(is), len(was), err1, err2)
	}
	_ = b.machine.Close()
	b.machine, b.saved, b.journal = m, is, nil
}

// timer arms the one timer of the body.
func (b *body) timer(at engine.Instant) {
	b.wake = at
	b.wakeTurn++
	if at > 0 {
		b.arm()
	}
}

func (b *body) arm() {
	turn, life := b.wakeTurn, b.life
	b.w.at(b.started+uint64(b.wake), func() { b.ring(turn, life) })
}

// ring is the timer going off. A frozen body gets it when it thaws; a stalled one when its clock goes on.
func (b *body) ring(turn, life int) {
	if b.life != life || b.wakeTurn != turn || !b.alive || b.frozen > 0 || b.stalled || b.wake == 0 {
		return
	}
	b.tell(&engine.TimePassed{})
}

// resume lets a body go on that was frozen or stalled.
func (b *body) resume() {
	if !b.alive || b.frozen > 0 || b.stalled {
		return
	}
	if b.wake > 0 && uint64(b.wake) <= b.nowHere() {
		b.tell(&engine.TimePassed{})
	}
	if len(b.inbox) > 0 {
		b.schedule()
	}
}

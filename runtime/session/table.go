package session

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/agenda"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/ledger"
	"github.com/hyroute/hyroute/runtime/order"
	"github.com/hyroute/hyroute/runtime/pool"
	"github.com/hyroute/hyroute/runtime/random"
)

// CarrierSet says which kinds of carriers a session may use.
type CarrierSet uint8

// The carriers that a set is made of.
const (
	Relay  CarrierSet = 1
	Direct CarrierSet = 2
)

// Key tells the sessions of one peer apart.
type Key struct {
	Set  CarrierSet
	Lane string
}

// Table holds the sessions of one runtime. Advance begins an instant, the other methods tell what happened in it, and Flush does
// the work: call it when all events of the instant were told, and again if acting on its Actions told more.
type Table struct {
	numbers   Numbers
	self      address.Address
	wall      uint64 // wall clock at time 0
	now       uint64
	step      uint64 // counts the instants
	random    *random.Source
	life      uint64 // newest life drawn
	ids       uint64 // newest number of a peer, a session or a message
	turns     uint64 // how often a session was given its turn to send
	peers     map[address.Address]*peer
	latest    *peer // of them, that was looked for last
	sessions  ledger.Ledger[*Session]
	relays    []*relay
	channels  map[uint64]*carrier
	dirty     []*peer
	sweepDue  bool    // sessions that were not used for long are looked for in the next Flush
	parked    []*peer // had all that a carrier gets in one Step
	wakes     agenda.Agenda[*peer]
	deadlines agenda.Agenda[*message]
	asked     uint64       // the wake told last; 0: none
	header    frame.Header // of the frame that came in last
	dropped   uint64       // frames that could not be used
	actions   []Action
	done      []Action // taken before these

	// Their places are used again.
	clean  []*peer
	runs   []*Session
	chunks []frame.Chunk
	spare  pool.Spare[*message]
	lent   lent
}

// lent are actions, and what they lead to, good until the next Advance.
type lent struct {
	arrived  pool.Pool[*Arrived]
	settled  pool.Pool[*Settled]
	hold     pool.Pool[*Hold]
	transmit pool.Pool[*Transmit]
	heads    []byte
	parts    []Part
}

func (l *lent) reset() {
	l.arrived.Reset()
	l.settled.Reset()
	l.hold.Reset()
	l.transmit.Reset()
	l.heads, l.parts = l.heads[:0], l.parts[:0]
}

// New makes an empty table for runtime self. wall is the wall clock, in ms since 1970, at time 0.
func New(self address.Address, wall uint64, source *random.Source, numbers Numbers) *Table {
	return &Table{
		numbers: numbers, self: self, wall: wall, random: source,
		peers:    map[address.Address]*peer{},
		channels: map[uint64]*carrier{},
	}
}

// Actions takes the actions since the last call. The slice is good until the next call, and they are until the next Advance.
func (t *Table) Actions() []Action {
	if len(t.actions) == 0 {
		return nil
	}
	t.done, t.actions = t.actions, t.done[:0]
	return t.done
}

// act stands in many places, as engine.emit does.
//
//go:noinline
func (t *Table) act(a Action) { t.actions = append(t.actions, a) }

// Dropped is how many frames could not be used so far.
func (t *Table) Dropped() uint64 { return t.dropped }

// Advance moves the time on. A table that is woken much later than it asked for condemns nothing: it was frozen itself.
func (t *Table) Advance(now uint64) {
	t.step++
	if len(t.actions) == 0 {
		t.lent.reset()
	}
	for _, p := range t.parked {
		p.parked = false
		t.touch(p)
	}
	t.parked = t.parked[:0]
	late := t.asked != 0 && now > t.asked+t.numbers.LateWake
	t.sweepDue = t.sweepDue || now/sweepEvery > t.now/sweepEvery
	t.now = max(t.now, now)
	if !late {
		return
	}
	t.asked = 0
	for _, p := range t.inOrder() {
		for _, c := range p.channels {
			c.wokenLate(t)
		}
		for _, c := range p.relays {
			if c.judged() {
				c.wokenLate(t)
			}
		}
		t.touch(p)
	}
}

func (t *Table) inOrder() []*peer {
	all := make([]*peer, 0, len(t.peers))
	for _, p := range t.peers {
		all = append(all, p)
	}
	sortByID(all)
	return all
}

func sortByID(p []*peer) {
	order.Sort(len(p), func(i, j int) bool { return p[i].id < p[j].id }, func(i, j int) { p[i], p[j] = p[j], p[i] })
}

// touch has the peer looked after in the next Flush. It stands in many places too.
//
//go:noinline
func (t *Table) touch(p *peer) {
	if !p.dirty {
		p.dirty = true
		t.dirty = append(t.dirty, p)
	}
}

func (t *Table) park(p *peer) {
	if !p.parked {
		p.parked = true
		t.parked = append(t.parked, p)
	}
}

func (t *Table) id() uint64 {
	t.ids++
	return t.ids
}

// Post accepts a message for a peer, to be sent in the session that key names, by the relay stub given and by data channels
// as the key allows. It is refused, with a reason, if it can not be taken now.
func (t *Table) Post(url address.Address, key Key, stub uint64, m Message) (reason string) {
	p := t.peer(url, stub)
	s := p.session(t, key)
	if s != nil && t.now+sweepEvery >= s.lastUse+t.numbers.Forget && s.idle() {
		// The peer has forgotten it, or is about to. That would look like a loss of memory, and put this message in doubt.
		t.forget(s)
		p = t.peer(url, stub)
		s = p.session(t, key)
	}
	if s == nil {
		return "too-many"
	}
	t.touch(p)
	return s.post(t, m)
}

// FrameReceived takes a session frame that came in: by the relay stub with the node's handle, or, with handle 0, by a data channel.
func (t *Table) FrameReceived(stub, handle, number uint64, head []byte, size int) {
	p, c := t.source(stub, handle)
	if p == nil {
		t.dropped++
		return
	}
	h := &t.header
	if h.Read(head, size) != nil {
		t.dropped++
		return
	}
	t.touch(p)
	s := p.sessionOf(t, h)
	if s == nil {
		t.dropped++
		return
	}
	s.receive(t, c, h, number, size)
}

// source is the peer and the carrier that a frame came by.
func (t *Table) source(stub, handle uint64) (*peer, *carrier) {
	if handle == 0 {
		if c := t.channels[stub]; c != nil {
			return c.peer, c
		}
		return nil, nil
	}
	r := t.findRelay(stub)
	if r == nil || handle >= uint64(len(r.in)) || r.in[handle].IsZero() {
		return nil, nil
	}
	url := r.in[handle]
	p := t.known(url)
	return p, p.relayBy(t, stub)
}

// Taken says that the listener took the message.
func (t *Table) Taken(r Receipt) {
	if s := t.sessions.Get(r.Session); s != nil && s.epoch == r.Epoch {
		s.taken(t, r.End)
		t.touch(s.peer)
	}
}

// Refuse says that nobody here takes the message: its sender is told code instead of a delivery.
func (t *Table) Refuse(r Receipt, code uint8) {
	if s := t.sessions.Get(r.Session); s != nil && s.epoch == r.Epoch {
		s.refuse(r.End, code)
		t.touch(s.peer)
	}
}

// Flush does what is due and sends what can be sent.
func (t *Table) Flush() {
	if t.sweepDue {
		t.sweep()
	}
	for {
		at, id, m, ok := t.deadlines.First()
		if !ok || at > t.now {
			break
		}
		t.deadlines.Remove()
		if m.id == id {
			m.expire(t)
		}
	}
	for {
		at, _, p, ok := t.wakes.First()
		if !ok || at > t.now {
			break
		}
		t.wakes.Remove()
		if p.wakeAt == at {
			p.wakeAt = 0
			t.touch(p)
		}
	}
	dirty := t.dirty
	sortByID(dirty)
	t.dirty = t.clean[:0]
	for _, p := range dirty {
		p.dirty = false
		p.prepare(t)
	}
	t.pump(dirty)
	for _, p := range dirty {
		p.conclude(t)
	}
	for _, p := range dirty {
		if at := p.wake(t); at != p.wakeAt {
			p.wakeAt = at
			if at != 0 {
				t.wakes.Add(at, p.id, p)
			}
		}
	}
	clear(dirty)
	t.clean = dirty
}

// Wake is when Flush has something to do again, if nothing else happens. 0: never.
func (t *Table) Wake() uint64 {
	t.asked = t.nextWake()
	return t.asked
}

func (t *Table) nextWake() uint64 {
	if len(t.dirty) > 0 || len(t.parked) > 0 {
		return t.now
	}
	next := uint64(0)
	for {
		at, _, p, ok := t.wakes.First()
		if !ok {
			break
		}
		if p.wakeAt != at {
			t.wakes.Remove()
			continue
		}
		next = at
		break
	}
	for {
		at, id, m, ok := t.deadlines.First()
		if !ok {
			break
		}
		if m.id != id || m.settled || m.at != at {
			t.deadlines.Remove()
			continue
		}
		if next == 0 || at < next {
			next = at
		}
		break
	}
	return next
}

// earlier is the earlier of two times, of which 0 is none.
func earlier(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Close settles everything that waits as closed. What was taken is acknowledged before: its senders would never hear of it.
func (t *Table) Close() {
	for _, p := range t.inOrder() {
		for _, s := range p.sessions {
			if s.ackAt != 0 {
				s.ackAt = t.now
				s.acknowledge(t)
			}
			s.abandon(t, Closed)
		}
	}
}

package session

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

// Session is an ordered stream of messages each way between this runtime and a peer (session.md 3.1).
type Session struct {
	id      uint64
	peer    *peer
	key     Key
	lastUse uint64
	served  uint64 // when a carrier was last given something of it, in turns of the table

	// me
	inc       uint64
	continues []frame.Continue
	former    []frame.Continue // names that this stream had, and that refusals may still say
	knows     bool             // the peer has shown that it follows inc
	hello     bool             // talk LONG until it shows it again
	sayHello  bool             // and do so without being asked
	helloAt   uint64           // when the last LONG frame went that only answered
	resets    []uint64         // when the name was found taken lately
	over      bool             // superseded: a twin lives

	// send half
	base, next  uint64 // done up to base; next is the next number
	chunks      fifo[chunk]
	queue       fifo[*message]
	queueBytes  int
	old         int            // so many at the head of queue came from a save that is not confirmed
	part        *message       // being numbered
	outstanding fifo[*message] // numbered to the end, not done
	controls    []chunk        // to be numbered before the next message
	flows       flowTable
	seen        uint64 // the peer has seen my numbers up to here
	unseenCost  int
	undoneCost  int
	cursors     []cursor
	use         carriers
	window      int // the peer's
	largest     int
	rto         uint64 // present length; 0: the least
	rtoAt       uint64
	ask         inquiry

	// the peer
	pinc uint64
	tags tags

	// receive half
	rinc, rseen uint64
	epoch       uint64 // how often another stream was followed
	buffer      window
	bufferCost  int
	open        opened
	owed        fifo[owed]
	owedCost    int
	again       uint64    // up to here, whole messages were handed over by a former life
	known       []owed    // these, beyond what is done
	incoming    []inflow  // by index
	defined     []defined // flows that were defined after what is done
	ackAt       uint64    // an acknowledgement is due
	ackChunks   int
	ackBytes    int
	told        uint64 // when a frame last went by a carrier in use

	counters counters
}

// cursor is how far a carrier was given this session's numbers.
type cursor struct {
	carrier *carrier
	at      uint64
	most    uint64 // the highest number that it ever had
}

func newSession(t *Table, p *peer, key Key) *Session {
	s := &Session{
		id: t.id(), peer: p, key: key, inc: t.newLife(), next: 1, lastUse: t.now,
		window: t.numbers.Window, largest: t.numbers.Largest,
	}
	s.flows.reset()
	return s
}

// idle says whether the session owes nothing to anybody.
func (s *Session) idle() bool {
	return s.queue.len() == 0 && s.part == nil && s.chunks.len() == 0 && len(s.controls) == 0 && s.owed.len() == 0 && len(s.known) == 0 &&
		s.buffer.count == 0 && !s.open.any
}

// settled says whether nobody waits for anything that this side still has to tell.
//
//go:noinline
func (s *Session) settled() bool {
	if s.queue.len() > 0 || s.part != nil || len(s.controls) > 0 || s.owed.len() > 0 {
		return false
	}
	for _, m := range s.outstanding.list() {
		if !m.settled {
			return false
		}
	}
	return true
}

// rests says whether what the peer has not seen is of no use now: all of it expired, and the node says that there is no such
// runtime. It goes on with the next message, or when something is heard of the peer.
//
//go:noinline
func (s *Session) rests() bool { return s.peer.absent && s.settled() }

// unseen says whether something is numbered that the peer has not seen and that has to be sent until it has.
//
//go:noinline
func (s *Session) unseen() bool { return s.seen+1 < s.next && !s.rests() }

// long says whether the next frame has to say everything (session.md 3.2).
func (s *Session) long() bool { return !s.knows || s.hello || s.rinc != s.pinc }

// tell makes a LONG frame that only answers go out, at most one in a while.
func (s *Session) tell() {
	s.hello, s.sayHello = true, true
}

//go:noinline
func (s *Session) cursor(c *carrier) *cursor {
	for i := range s.cursors {
		if s.cursors[i].carrier == c {
			return &s.cursors[i]
		}
	}
	s.cursors = append(s.cursors, cursor{carrier: c, at: s.seen})
	return &s.cursors[len(s.cursors)-1]
}

func (s *Session) forgetCursor(c *carrier) {
	for i := range s.cursors {
		if s.cursors[i].carrier == c {
			s.cursors = append(s.cursors[:i:i], s.cursors[i+1:]...)
			return
		}
	}
}

// rewind makes the carrier carry again all that was not seen.
//
//go:noinline
func (s *Session) rewind(c *carrier) { s.cursor(c).at = s.seen }

// chooseCarriers computes which carriers are in use: none if the session is over. One that comes into use starts at what was seen.
func (s *Session) chooseCarriers(t *Table) {
	var use carriers
	if !s.over {
		use = s.peer.choose(t, s.key.Set)
	}
	for _, c := range use {
		if c != nil && !s.use.has(c) {
			s.rewind(c)
			s.inquireNow(t)
			if c.relay != nil && c.state == good {
				c.trusted = max(c.trusted, t.now) // no PING went by it while it was not used
			}
		}
	}
	if use[0] != s.use[0] && use[0] != nil {
		direct := use[0].relay == nil
		stub := use[0].stub
		if !direct {
			stub = use[0].relay.stub
		}
		if s.use[0] != nil {
			t.act(&Preferred{Session: s.id, Peer: s.peer.url, Stub: stub, Direct: direct, Reason: s.peer.why})
		}
	}
	s.use = use
}

// Path says whether messages of that session go by a data channel now.
func (t *Table) Path(url address.Address, key Key) (stub uint64, direct, known bool) {
	p := t.peers[url]
	if p == nil {
		return 0, false, false
	}
	c := p.choose(t, key.Set)[0]
	if c == nil {
		return 0, false, false
	}
	if c.relay != nil {
		return c.relay.stub, false, true
	}
	return c.stub, true, true
}

// checkRTO sends again what was not seen for too long, and distrusts the channel that it went by.
func (s *Session) checkRTO(t *Table) {
	if s.rtoAt == 0 || t.now < s.rtoAt {
		return
	}
	if !s.unseen() {
		s.rtoAt = 0
		return
	}
	s.rto = min(2*max(s.rto, t.numbers.MinRTO), t.numbers.MaxRTO)
	s.rtoAt = t.now + s.rtoLength(t)
	// The peer may have lost the state that a short frame refers to, and a short frame can not tell which session it is of.
	s.hello = true
	for _, c := range s.use {
		if c == nil || c.relay == nil && t.channels[c.stub] != c {
			continue // or it is gone since carriers were chosen last
		}
		s.rewind(c)
		c.flight.lost()
		if c.judged() {
			c.intoDoubt(t, "timeout")
		}
	}
}

// rtoLength is how long to wait for something more to be seen.
//
//go:noinline
func (s *Session) rtoLength(t *Table) uint64 {
	length := max(s.rto, t.numbers.MinRTO)
	if c := s.use[0]; c != nil && c.measured {
		length = max(length, min(3*c.srtt, t.numbers.MaxRTO))
	}
	return length
}

// wake is when the session has something to do by itself. 0: never.
func (s *Session) wake(t *Table) uint64 {
	at := uint64(0)
	canSend := false
	for _, c := range s.use {
		canSend = canSend || c != nil && c.open()
	}
	if !canSend {
		return 0
	}
	if s.ackAt != 0 {
		at = max(s.ackAt, t.now)
	}
	if s.unseen() {
		at = earlier(at, s.rtoAt)
	}
	if s.ask.at != 0 {
		at = earlier(at, max(s.ask.at, t.now))
	}
	if s.sayHello {
		at = earlier(at, max(t.now, s.helloAt+t.numbers.LongAnswer))
	}
	return at
}

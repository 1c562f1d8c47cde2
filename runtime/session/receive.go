package session

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

// opened is the message that is being put together.
type opened struct {
	any         bool
	first, last uint64
	size        int
	flow        uint64
	tooBig      bool
}

// owed is a message that was handed over and not taken yet, or refused and its sender not told yet.
type owed struct {
	begin, end uint64
	cost       int
	flow       uint64
	state      owedState
	code       uint8
	gate       uint64 // number of the REFUSE chunk; 0: not numbered
}

type owedState uint8

const (
	handed owedState = iota
	refusing
	taken
)

// inflow is a flow of the peer's stream. One that was refused because its address is not here stays refused until the peer
// defines it again: it does so after everything that it had sent before it knew, so that nothing overtakes what was refused.
type inflow struct {
	flow
	defined bool
	moved   bool
}

// done is up to where everything was taken: always the end of a message.
func (s *Session) done() uint64 {
	if s.owed.len() > 0 {
		return s.owed.list()[0].begin - 1
	}
	if s.open.any {
		return s.open.first - 1
	}
	return s.rseen
}

// receiveHalf takes what the frame says and carries of the peer's stream: F1 to F4.
func (s *Session) receiveHalf(t *Table, c *carrier, h *frame.Header, src, dst, number uint64) {
	if dst != 0 && dst != s.inc { // F1
		return
	}
	if src != s.rinc { // F2
		if !h.Long || !s.follow(t, &h.Hello) {
			s.sayHello = true
			return
		}
	}
	if len(h.Chunks) == 0 {
		return
	}
	s.peer.chunkMoved(t)
	offset := 0
	for i := range h.Chunks {
		s.keep(t, c, h.First+uint64(i), &h.Chunks[i], number, offset)
		offset += h.Chunks[i].Length
	}
	s.takeInOrder(t)
	switch {
	case !s.ackMuch(t):
	case s.owed.len() > 0:
		s.ackBy(t.now + t.numbers.AckTaking) // listeners take it in a moment, and one frame says both
	default:
		s.ackBy(t.now)
	}
}

// follow says whether the stream of the hello can be followed, and follows it.
func (s *Session) follow(t *Table, h *frame.Hello) bool {
	given := s.handedOver()
	for _, x := range h.Continues {
		if x.Inc == s.rinc && h.Base <= given {
			if max(given, s.knownEnd()) < x.Fork {
				s.forgetFrom(x.Fork)
				s.followed(t, h.Src, given)
				return true
			}
			// It was handed more than the peer remembers to have sent. Let it know: what was handed over counts as taken.
			s.takeAll(t)
		}
	}
	root := h.Src
	if len(h.Continues) > 0 {
		root = h.Continues[0].Inc
	}
	if h.Base != 0 || len(h.Continues) > 0 && s.rinc >= root && s.rinc != 0 {
		return false
	}
	if s.rinc != 0 || kOf(root) > 0 {
		t.act(&Gap{Session: s.id, Peer: s.peer.url})
	}
	first := s.rinc == 0
	s.followed(t, h.Src, 0)
	s.owed, s.owedCost, s.known, s.again = fifo[owed]{}, 0, nil, 0
	s.incoming, s.defined = nil, nil
	if !first {
		s.epoch++
	}
	return true
}

// handedOver is up to where whole messages were handed over, taken or not.
func (s *Session) handedOver() uint64 {
	if s.open.any {
		return s.open.first - 1
	}
	return s.rseen
}

func (s *Session) followed(t *Table, inc, seen uint64) {
	if s.open.any {
		t.act(&Drop{Session: s.id, First: s.held(s.open.first), Last: s.held(s.open.last)})
	}
	s.dropBuffer(t)
	s.open = opened{}
	s.rinc, s.rseen = inc, seen
}

// held is the number under which the body keeps chunk n: those of a stream that ended may still wait for their listener when the
// next stream begins at 1 again.
func (s *Session) held(n uint64) uint64 { return s.epoch<<40 + n }

func (s *Session) dropBuffer(t *Table) {
	for n := s.rseen + 1; s.buffer.count > 0; n++ {
		if a, here := s.buffer.get(n); here {
			s.buffer.remove(n)
			if a.length > 0 {
				t.act(&Drop{Session: s.id, First: s.held(n), Last: s.held(n)})
			}
		}
	}
	s.bufferCost = 0
}

// keep holds a chunk until its turn. First come stays.
func (s *Session) keep(t *Table, c *carrier, n uint64, k *frame.Chunk, number uint64, offset int) {
	if n <= s.rseen {
		s.ackAt = t.now // a repeat: the peer does not know yet
		s.counters.repeated++
		return
	}
	if s.buffer.has(n) {
		s.ackAt = t.now
		s.counters.repeated++
		return
	}
	cost := k.Length + chunkCost
	next := n == s.rseen+1
	if n > s.rseen+t.numbers.reach() || !next && s.bufferCost+cost > t.numbers.Window {
		return
	}
	s.trimDefined()
	if s.owedCost+s.open.size+len(s.defined)*chunkCost > t.numbers.Window+t.numbers.Largest {
		return // the peer does not heed the window
	}
	s.buffer.put(s.rseen, n, k, c.relay == nil)
	s.bufferCost += cost
	if k.Length > 0 {
		a := t.lent.hold.Lend()
		if a == nil {
			a = t.lent.hold.Add(new(Hold))
		}
		*a = Hold{s.id, s.held(n), number, offset, k.Length}
		t.act(a)
	}
	s.ackChunks++
	s.ackBytes += k.Length
	s.ackBy(t.now + t.numbers.AckDelay)
}

// ackBy has an acknowledgement go at that time, unless one goes earlier.
func (s *Session) ackBy(at uint64) {
	if s.ackAt == 0 || at < s.ackAt {
		s.ackAt = at
	}
}

// ackMuch says whether so much came in since the last acknowledgement that the next one does not wait.
func (s *Session) ackMuch(t *Table) bool {
	return s.ackChunks >= t.numbers.AckChunks || s.ackBytes >= t.numbers.AckBytes
}

// takeInOrder takes the chunks whose turn it is (F4).
func (s *Session) takeInOrder(t *Table) {
	for {
		n := s.rseen + 1
		a, here := s.buffer.get(n)
		if !here {
			return
		}
		var k frame.Chunk
		if a.flags&(frame.Def|frame.Refuse) != 0 {
			k = s.buffer.chunk(n)
		}
		s.buffer.remove(n)
		s.bufferCost -= a.length + chunkCost
		s.rseen = n
		switch {
		case a.flags&frame.Def != 0:
			s.define(n, &k, t.numbers.Flows)
		case a.flags&frame.Refuse != 0:
			s.refused(t, &k)
		default:
			s.take(t, n, a)
		}
		s.forgetKnown()
	}
}

// take takes a chunk of content.
func (s *Session) take(t *Table, n uint64, a arrived) {
	if a.flags&(frame.Tomb|frame.Begin) != 0 {
		s.dropOpen(t)
	}
	switch {
	case a.flags&frame.Tomb != 0:
		return
	case a.flags&frame.Begin != 0:
		s.open = opened{any: true, first: n, flow: uint64(a.flow)}
	case !s.open.any:
		if a.length > 0 {
			t.act(&Drop{Session: s.id, First: s.held(n), Last: s.held(n)})
		}
		return
	}
	s.open.last = n
	s.open.size += a.length
	s.open.tooBig = s.open.tooBig || s.open.size > t.numbers.Largest+Preface
	if s.open.tooBig {
		t.act(&Drop{Session: s.id, First: s.held(s.open.first), Last: s.held(n)})
		s.open.size = 0
	}
	if a.flags&frame.End != 0 {
		s.handOver(t, a.direct)
	}
}

func (s *Session) define(n uint64, k *frame.Chunk, most int) {
	from, err1 := address.Parse(k.From)
	to, err2 := address.Parse(k.To)
	if k.Flow >= uint64(most) {
		return
	}
	for uint64(len(s.incoming)) <= k.Flow {
		s.incoming = append(s.incoming, inflow{})
	}
	s.defined = append(s.defined, defined{n, k.Flow, s.incoming[k.Flow]})
	s.incoming[k.Flow] = inflow{flow: flow{from, to}, defined: err1 == nil && err2 == nil}
}

// inflow is the flow with that index; one that is not defined if there is none.
func (s *Session) inflow(index uint64) *inflow {
	if index < uint64(len(s.incoming)) {
		return &s.incoming[index]
	}
	return &inflow{}
}

// markMoved notes that the address of a flow is not here, as the flow's index was meant by chunk n.
func (s *Session) markMoved(index, n uint64) {
	x := s.inflow(index)
	for i := range s.defined {
		if d := &s.defined[i]; d.flow == index && d.number > n {
			d.before.moved = true
			if d.before.flow != x.flow {
				return
			}
			break
		}
	}
	x.moved = true
}

func (s *Session) dropOpen(t *Table) {
	if s.open.any && !s.open.tooBig {
		t.act(&Drop{Session: s.id, First: s.held(s.open.first), Last: s.held(s.open.last)})
	}
	s.open = opened{}
}

func (s *Session) handOver(t *Table, direct bool) {
	o := s.open
	s.open = opened{}
	if o.last <= s.again {
		k, ok := s.recall(o.first, o.last)
		if !ok || k.state != handed {
			if !o.tooBig {
				t.act(&Drop{Session: s.id, First: s.held(o.first), Last: s.held(o.last)})
			}
			if ok {
				s.oweAgain(t, k)
			}
			return
		}
	}
	s.owed.add(owed{begin: o.first, end: o.last, cost: o.size, flow: o.flow})
	s.owedCost += o.size
	x := s.inflow(o.flow)
	if !x.defined || o.tooBig || x.moved {
		if !o.tooBig {
			t.act(&Drop{Session: s.id, First: s.held(o.first), Last: s.held(o.last)})
		}
		code := uint8(RefuseUnsupported)
		if x.moved {
			code = RefuseMoved
		}
		s.refuse(o.last, code)
		return
	}
	a := t.lent.arrived.Lend()
	if a == nil {
		a = t.lent.arrived.Add(new(Arrived))
	}
	*a = Arrived{
		Receipt: Receipt{s.id, s.epoch, o.last}, First: s.held(o.first), Last: s.held(o.last),
		Peer: s.peer.url, From: x.from, To: x.to, Direct: direct,
	}
	t.act(a)
}

// oweAgain takes up a message where a former life left it: taken, or refused.
func (s *Session) oweAgain(t *Table, k owed) {
	if k.code == RefuseMoved {
		s.markMoved(k.flow, k.begin)
	}
	s.owed.add(k)
	s.owedCost += k.cost
	s.passGates(t)
}

// taken notes that the message that ended at end was taken.
func (s *Session) taken(t *Table, end uint64) {
	list := s.owed.list()
	for i := range list {
		if o := &list[i]; o.end == end && o.state == handed {
			o.state = taken
			break
		}
	}
	s.settleOwed(t)
}

func (s *Session) takeAll(t *Table) {
	if end := s.knownEnd(); end > s.rseen {
		s.dropOpen(t)
		s.dropBuffer(t)
		s.rseen, s.known = end, nil
	}
	list := s.owed.list()
	for i := range list {
		list[i].state = taken
	}
	s.settleOwed(t)
}

// settleOwed lets done move over what was taken, and over what was refused once the peer has seen the refusal.
func (s *Session) settleOwed(t *Table) {
	n := 0
	for _, o := range s.owed.list() {
		if o.state != taken {
			break
		}
		s.owedCost -= o.cost
		n++
	}
	if n == 0 {
		return
	}
	s.owed.drop(n)
	// A sender that waits for its one message hears at once; a stream is acknowledged when it was taken, but not each time.
	switch {
	case s.owed.len() == 0 && s.ackMuch(t):
		s.ackBy(t.now)
	case s.ackChunks > 1:
		s.ackBy(max(t.now, s.told+t.numbers.AckStream))
	default:
		s.ackBy(max(t.now, s.told+t.numbers.AckPause))
	}
}

func (s *Session) refuse(end uint64, code uint8) {
	list := s.owed.list()
	for i := range list {
		if o := &list[i]; o.end == end && o.state == handed {
			o.state, o.code = refusing, code
			if code == RefuseMoved {
				s.markMoved(o.flow, o.begin)
			}
			s.controls = append(s.controls, s.refusal(o))
			return
		}
	}
}

func (s *Session) refusal(o *owed) chunk {
	return chunk{flags: frame.Refuse, rare: &rare{inc: s.rinc, end: o.end, code: o.code}}
}

func (s *Session) refusalNumbered(end, number uint64) {
	for _, list := range [][]owed{s.owed.list(), s.known} {
		for i := range list {
			if o := &list[i]; o.end == end && o.state == refusing {
				o.gate = number
			}
		}
	}
}

// passGates lets done pass refused messages whose refusal the peer has seen.
func (s *Session) passGates(t *Table) {
	list := s.owed.list()
	for i := range list {
		if o := &list[i]; o.state == refusing && o.gate != 0 && o.gate <= s.seen {
			o.state = taken
		}
	}
	s.settleOwed(t)
}

// refused learns that the peer did not take a message of mine.
func (s *Session) refused(t *Table, a *frame.Chunk) {
	if !s.meant(a.Inc, a.Number) {
		return
	}
	outcome := PeerUnsupported
	switch a.Code {
	case RefuseNoListener:
		outcome = PeerNoListener
	case RefuseMoved:
		outcome = PeerMoved
	case RefuseNotBound:
		outcome = PeerNotBound
	case RefuseForbidden:
		outcome = PeerForbidden
	}
	for _, m := range s.outstanding.list() {
		if m.end == a.Number {
			m.settle(t, outcome, false)
			s.bury(m)
			if outcome == PeerMoved {
				s.pullBack(t, m)
			}
			return
		}
	}
}

// pullBack gives back what waits for an address that is not at the peer, so that it can follow in order.
func (s *Session) pullBack(t *Table, m *message) {
	s.flows.forget(flow{m.From, m.To})
	entity := m.To.Entity()
	for _, q := range append([]*message(nil), s.queue.list()...) {
		if q.To.Within(entity) {
			s.unqueue(q)
			q.settle(t, Unsent, false)
		}
	}
}

package session

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

const (
	tomb    = frame.Tomb
	tombEnd = frame.Tomb | frame.End
)

// chunk is what one number of my stream means.
type chunk struct {
	flags          frame.ChunkFlags
	message        *message // of which it is a slice; nil: none
	flow           uint64
	offset, length int
	rare           *rare // DEF and REFUSE
}

// rare is what stands in the chunks that are no content.
type rare struct {
	from, to address.Address // DEF
	inc, end uint64          // REFUSE
	code     uint8
}

func (c *chunk) cost() int { return c.length + chunkCost }

// describe is the chunk as it stands in a header.
func (c *chunk) describe() frame.Chunk {
	d := frame.Chunk{Flags: c.flags, Flow: c.flow, Length: c.length}
	if r := c.rare; r != nil {
		d.From, d.To, d.Inc, d.Number, d.Code = r.from.String(), r.to.String(), r.inc, r.end, r.code
	}
	return d
}

// flow is a pair of addresses that messages go between.
type flow struct{ from, to address.Address }

// flowTable gives flows their index in my stream; the one not used for the longest time is defined anew when all are taken.
type flowTable struct {
	index map[flow]uint64
	byUse []flow   // the longest unused first
	stale []uint64 // indexes that were forgotten
	last  flow     // that was found or defined
	at    uint64   // its index
}

func (f *flowTable) reset() { *f = flowTable{index: map[flow]uint64{}} }

// find gives the index of a defined flow, and notes its use.
func (f *flowTable) find(x flow) (uint64, bool) {
	if x == f.last {
		return f.at, true
	}
	i, ok := f.index[x]
	if ok && f.byUse[len(f.byUse)-1] != x {
		for at, y := range f.byUse {
			if x == y {
				f.byUse = append(append(f.byUse[:at:at], f.byUse[at+1:]...), x)
				break
			}
		}
	}
	if ok {
		f.last, f.at = x, i
	}
	return i, ok
}

// define gives a flow an index.
func (f *flowTable) define(x flow, limit int) uint64 {
	i := uint64(len(f.byUse))
	switch {
	case len(f.stale) > 0:
		i, f.stale = f.stale[0], f.stale[1:]
	case len(f.byUse) >= limit:
		i = f.index[f.byUse[0]]
		delete(f.index, f.byUse[0])
		f.byUse = f.byUse[1:]
	}
	f.index[x] = i
	f.byUse = append(f.byUse, x)
	f.last, f.at = x, i
	return i
}

// forget makes the next message of a flow define it anew.
func (f *flowTable) forget(x flow) {
	f.last = flow{}
	if _, ok := f.index[x]; ok {
		f.stale = append(f.stale, f.index[x])
		delete(f.index, x)
		for at, y := range f.byUse {
			if x == y {
				f.byUse = append(f.byUse[:at:at], f.byUse[at+1:]...)
				break
			}
		}
	}
}

// number gives c the next number.
func (s *Session) number(t *Table, c chunk) {
	s.chunks.add(c)
	s.next++
	s.unseenCost += c.cost()
	s.undoneCost += c.cost()
}

// roomToNumber says whether the windows let one more chunk of content be numbered: always for the oldest message that is not done.
func (s *Session) roomToNumber(t *Table) bool {
	window := min(t.numbers.Window, s.window)
	return s.unseenCost <= window && (s.undoneCost <= window || s.part != nil && s.outstanding.len() == 0)
}

// numberNext numbers the next chunk, if there is one, the windows allow it, and its description and payload take no more than room,
// which is what is left of the full room of a frame.
func (s *Session) numberNext(t *Table, room, full int) bool {
	var c chunk
	switch {
	case s.part != nil:
		if !s.roomToNumber(t) || !s.slice(t, &c, s.part, room-8, full-8) {
			return false
		}
	case len(s.controls) > 0:
		c = s.controls[0]
		if d := c.describe(); d.Size() > room {
			return false
		}
		s.controls = s.controls[1:]
		s.number(t, c)
		s.refusalNumbered(c.rare.end, s.next-1)
		return true
	case s.queue.len() > 0:
		m := s.queue.list()[0]
		if !s.roomToNumber(t) {
			return false
		}
		x := flow{m.From, m.To}
		i, ok := s.flows.find(x)
		if !ok {
			c = chunk{flags: frame.Def, rare: &rare{from: m.From, to: m.To}}
			if d := c.describe(); d.Size()+8 > room {
				return false
			}
			c.flow = s.flows.define(x, t.numbers.Flows)
			s.number(t, c)
			return true
		}
		c = chunk{flags: frame.Begin, flow: i}
		if !s.slice(t, &c, m, room-12, full-12) {
			return false
		}
		s.dequeue()
		m.begin = s.next
		s.part = m
	default:
		return false
	}
	m := s.part
	m.sent += c.length
	if c.flags&frame.End != 0 {
		m.end = s.next
		s.part = nil
		s.outstanding.add(m)
	}
	s.number(t, c)
	return true
}

// slice makes c the next chunk of m, if it goes into this frame. What is cut has to be put together by its receiver, which is one more
// copy: so what fits into one frame goes whole, with the next frame if only a little is left of this one.
func (s *Session) slice(t *Table, c *chunk, m *message, room, full int) bool {
	length := m.Size - m.sent
	if whole := t.numbers.Whole; m.sent > 0 || length > min(whole, room) {
		if m.sent == 0 && length <= min(whole, full) && 2*room < full {
			return false
		}
		if length = min(length, t.numbers.Chunk); length > room {
			return false
		}
	}
	c.message, c.offset, c.length = m, m.sent, length
	if m.sent+length == m.Size {
		c.flags |= frame.End
	}
	return true
}

func (s *Session) dequeue() {
	s.queueBytes -= s.queue.list()[0].Size
	s.queue.drop(1)
	if s.old > 0 {
		s.old--
	}
}

// release forgets my numbers up to done and settles what ends there.
func (s *Session) release(t *Table, done uint64) {
	if s.base < done {
		s.ask = inquiry{}
	}
	n, chunks := 0, s.chunks.list()
	for ; s.base < done; n++ {
		c := &chunks[n]
		s.base++
		s.undoneCost -= c.cost()
		if s.base > s.seen {
			s.unseenCost -= c.cost()
		}
	}
	s.chunks.drop(n)
	n = 0
	for _, m := range s.outstanding.list() {
		if m.end > done {
			break
		}
		n++
		s.counters.acknowledged++
		m.settle(t, Delivered, false)
		t.spare.Give(m) // settled, and no chunk is of it any more
	}
	s.outstanding.drop(n)
}

// moveSeen notes that the peer has seen my numbers up to n.
func (s *Session) moveSeen(t *Table, n uint64) {
	n = min(max(n, s.base), s.next-1)
	if n == s.seen {
		return
	}
	forward := n > s.seen
	chunks := s.chunks.list()
	for i := max(s.seen, s.base) + 1; i <= n; i++ {
		s.unseenCost -= chunks[i-s.base-1].cost()
	}
	for i := n + 1; i <= s.seen; i++ {
		s.unseenCost += chunks[i-s.base-1].cost()
	}
	s.seen = n
	if forward {
		for _, x := range s.cursors {
			x.carrier.full = 0
			x.carrier.flight.seen(t, s.id, n)
		}
		s.rto, s.rtoAt = 0, 0
		if s.unseen() {
			s.rtoAt = t.now + s.rtoLength(t)
		}
		s.passGates(t)
	}
}

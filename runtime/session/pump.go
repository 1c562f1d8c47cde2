package session

import (
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/order"
)

// pump gives the carriers what they can take: frame by frame, to the session whose turn is the longest ago. So one with little to
// send never waits for one with much, be they lanes to one peer or sessions with many that are behind one relay.
func (t *Table) pump(peers []*peer) {
	all := t.runs[:0]
	for _, p := range peers {
		all = append(all, p.sessions...)
	}
	t.runs = all
	order.Sort(len(all), func(i, j int) bool {
		a, b := all[i], all[j]
		return a.served < b.served || a.served == b.served && a.id < b.id
	}, func(i, j int) { all[i], all[j] = all[j], all[i] })
	for len(all) > 0 {
		more := all[:0]
		for _, s := range all {
			if s.pump(t) {
				t.turns++
				s.served = t.turns
				more = append(more, s)
			}
		}
		all = more
	}
	clear(t.runs)
}

// pump gives each carrier in use one more frame, if it can take it. It says whether it gave any.
func (s *Session) pump(t *Table) bool {
	if s.rests() {
		return false
	}
	moved := false
	for _, c := range s.use {
		switch {
		case c == nil || !c.ready(t) || !c.admits(t, s):
		case c.allowance().left(t):
			moved = s.sendRun(t, c) || moved
		case max(s.cursor(c).at, s.seen)+1 < s.next || s.waits(t):
			t.park(s.peer) // others had all that this carrier gets in one Step
		}
	}
	return moved
}

// waits says whether something may be numbered.
func (s *Session) waits(t *Table) bool {
	if s.part == nil && len(s.controls) > 0 {
		return true
	}
	return (s.part != nil || s.queue.len() > 0) && s.roomToNumber(t)
}

// sendRun sends the next chunks that the carrier was not given: as many as wait, up to the size of a frame.
func (s *Session) sendRun(t *Table, c *carrier) bool {
	cur := s.cursor(c)
	first := max(cur.at, s.seen) + 1
	var h frame.Header
	s.header(&h)
	h.First = first
	h.Chunks = t.chunks[:0]
	from := len(t.lent.parts)
	room := c.frameSize(t) - 64
	headRoom := frame.MaxHeader - 512
	if h.Long {
		room -= 32 + len(s.key.Lane) + 16*len(s.continues)
	}
	full := room
	for n := first; ; n++ {
		if n >= s.next && !s.numberNext(t, room, full) {
			break
		}
		k := &s.chunks.list()[n-s.base-1]
		h.Chunks = append(h.Chunks, k.describe())
		last := len(h.Chunks) - 1
		size := h.Chunks[last].Size()
		if (size+k.length > room || size > headRoom) && last > 0 {
			h.Chunks = h.Chunks[:last]
			break
		}
		room -= size + k.length
		headRoom -= size
		if k.length > 0 {
			t.lent.parts = append(t.lent.parts, Part{k.message.Msg, k.offset, k.length})
		}
		cur.at = n
		s.counters.sent(n)
	}
	if len(h.Chunks) == 0 {
		return false
	}
	t.chunks = h.Chunks
	s.peer.chunkMoved(t)
	if s.rtoAt == 0 {
		s.rtoAt = t.now + s.rtoLength(t)
	}
	s.transmit(t, c, &h, 0, t.lent.parts[from:len(t.lent.parts):len(t.lent.parts)])
	s.marked(t, c, cur.at)
	if c.relay != nil && s.peer.absent {
		c.pausedUntil = t.now + s.rtoLength(t) // one frame is enough to find out whether the peer is back
	}
	return true
}

// header puts in h what every frame says.
func (s *Session) header(h *frame.Header) {
	h.Done, h.Seen = s.done(), s.rseen
	if s.long() {
		h.Long = true
		h.Hello = frame.Hello{
			Src: s.inc, Dst: s.pinc, Have: s.rinc, Base: s.base, Continues: s.continues,
			Set: uint8(s.key.Set), Lane: s.key.Lane,
		}
	} else {
		h.Tag = s.tag().out
	}
}

// transmitBare sends a frame without chunks.
func (s *Session) transmitBare(t *Table, c *carrier, ping, pong uint32, pad int) {
	var h frame.Header
	s.header(&h)
	h.Ping, h.Pong = ping, pong
	s.transmit(t, c, &h, pad, nil)
}

func (s *Session) transmit(t *Table, c *carrier, h *frame.Header, pad int, parts []Part) {
	if !c.open() {
		return
	}
	if h.Long {
		h.Hello.Window, h.Hello.Largest = uint64(t.numbers.Window), uint64(t.numbers.Largest)
	}
	// The largest header is that of a DEF in a LONG frame: two addresses and 300 bytes.
	from := len(t.lent.heads)
	heads, err := h.Append(t.lent.heads)
	if err != nil {
		panic("session: " + err.Error())
	}
	t.lent.heads = heads
	head := heads[from:len(heads):len(heads)]
	a := t.lent.transmit.Lend()
	if a == nil {
		a = t.lent.transmit.Add(new(Transmit))
	}
	*a = Transmit{Stub: c.stub, Head: head, Pad: pad, Parts: parts}
	if c.relay != nil {
		a.Stub, a.Handle = c.relay.stub, c.relay.handle(t, s.peer.url)
	}
	t.act(a)
	size := len(head) + pad
	for _, p := range parts {
		size += p.Length
	}
	c.flight.given += uint64(size)
	c.spent(t, size)
	if s.use.has(c) || s.use[0] == nil {
		s.ackAt, s.ackChunks, s.ackBytes = 0, 0, 0
		s.told = t.now
		s.sayHello = false
		if h.Long {
			s.helloAt = t.now
		}
	}
}

// acknowledge sends a frame that only acknowledges, if one is due.
func (s *Session) acknowledge(t *Table) {
	due := s.ackAt != 0 && t.now >= s.ackAt
	due = due || s.sayHello && (s.helloAt == 0 || t.now >= s.helloAt+t.numbers.LongAnswer)
	if !due {
		return
	}
	use := s.use
	for _, c := range use {
		if c != nil && c.open() {
			s.transmitBare(t, c, 0, 0, 0)
		}
	}
}

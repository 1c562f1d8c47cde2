package session

import "github.com/hyroute/hyroute/runtime/address"

// Message is a message to be sent.
type Message struct {
	Msg      uint64 // the body's number
	From, To address.Address
	Size     int    // of its content
	Deadline uint64 // when it is to be delivered
}

// message is an accepted message.
type message struct {
	Message
	id       uint64
	session  *Session
	accepted uint64
	at       uint64 // when it expires next
	sent     int    // bytes that are numbered
	begin    uint64 // number of its first chunk; 0: none is numbered
	end      uint64 // number of its last chunk; 0: not numbered to the end
	settled  bool
}

// post accepts m, or says why not.
func (s *Session) post(t *Table, m Message) (reason string) {
	switch {
	case s.over:
		return "superseded"
	case m.Size > min(t.numbers.Largest, s.largest)+Preface:
		return "too-big"
	case s.queue.len() >= t.numbers.QueueLength, s.queue.len() > 0 && s.queueBytes+m.Size > t.numbers.QueueBytes:
		return "too-many"
	}
	q := t.spare.Take()
	if q == nil {
		q = new(message)
	}
	*q = message{Message: m, id: t.id(), session: s, accepted: t.now, at: m.Deadline}
	s.queue.add(q)
	s.queueBytes += m.Size
	s.lastUse = t.now
	t.deadlines.Add(q.at, q.id, q)
	return ""
}

// settle tells the outcome, once.
func (m *message) settle(t *Table, o Outcome, maybe bool) {
	if !m.settled {
		m.settled = true
		if o == Expired {
			o = m.session.peer.whyExpired()
		}
		a := t.lent.settled.Lend()
		if a == nil {
			a = t.lent.settled.Add(new(Settled))
		}
		*a = Settled{m.Msg, o, maybe}
		t.act(a)
	}
}

// expire does what session.md 4.5 says of a message at its deadline.
func (m *message) expire(t *Table) {
	if m.settled || m.at > t.now {
		return
	}
	s := m.session
	t.touch(s.peer)
	switch {
	case m.begin == 0:
		s.unqueue(m)
		m.settle(t, Expired, false)
	case m == s.part:
		// The receiver has to hear that its end will not come.
		s.part = nil
		s.bury(m)
		s.number(t, chunk{flags: tombEnd, message: m})
		m.end = s.next - 1
		s.outstanding.add(m)
		m.settle(t, Expired, false)
	case m.end > s.seen:
		s.bury(m)
		m.settle(t, Expired, true)
	case m.at == m.Deadline:
		// The peer has it: its done may still come.
		m.at = m.Deadline + max(m.Deadline-m.accepted, 1)
		t.deadlines.Add(m.at, m.id, m)
	default:
		s.bury(m)
		m.settle(t, Expired, true)
	}
}

func (s *Session) unqueue(m *message) {
	list := s.queue.list()
	for i, q := range list {
		if q == m {
			s.queue.set(append(list[:i:i], list[i+1:]...))
			s.queueBytes -= m.Size
			if i < s.old {
				s.old--
			}
			return
		}
	}
}

// bury turns all chunks of m into tombstones: its content is not needed any more.
func (s *Session) bury(m *message) {
	chunks := s.chunks.list()
	for n := max(m.begin, s.base+1); n < s.next; n++ {
		c := &chunks[n-s.base-1]
		if c.message != m {
			break
		}
		cost := c.length
		c.flags |= tomb
		c.offset, c.length = 0, 0
		s.undoneCost -= cost
		if n > s.seen {
			s.unseenCost -= cost
		}
	}
}

// abandon settles all that was posted, and forgets it: the session sends nothing more of it.
func (s *Session) abandon(t *Table, o Outcome) {
	twin := o == Superseded // it may have begun from a state that holds what waits here, and deliver it
	for _, m := range s.outstanding.list() {
		m.settle(t, o, o != Legacy)
	}
	if s.part != nil {
		s.part.settle(t, o, twin)
	}
	for _, m := range s.queue.list() {
		m.settle(t, o, twin)
	}
	s.outstanding, s.part, s.queue, s.queueBytes, s.old = fifo[*message]{}, nil, fifo[*message]{}, 0, 0
	s.startOver(t, 0)
	t.touch(s.peer)
}

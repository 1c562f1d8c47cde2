package session

import "github.com/hyroute/hyroute/runtime/frame"

// receive takes a frame: session.md 3.3, in its order.
func (s *Session) receive(t *Table, c *carrier, h *frame.Header, number uint64, size int) {
	if s.over {
		return
	}
	s.peer.present(t, "heard")
	s.lastUse = t.now
	src, dst, have := s.pinc, s.inc, s.inc
	if h.Long {
		src, dst, have = h.Hello.Src, h.Hello.Dst, h.Hello.Have
	}
	switch {
	case h.Long && src < s.pinc: // R1
		s.tell()
		if dst > s.inc {
			s.reset(t, dst, "name-taken")
		}
		return
	case !h.Long && (s.pinc == 0 || h.Tag != s.tag().in): // R2
		s.tell()
		return
	}
	isNew, bound := false, false
	moved := src != s.pinc
	if moved { // R3
		isNew = lifeOf(src) != lifeOf(s.pinc)
		bound = s.knows || s.base > 0 || s.pinc != 0 && s.next > 1 && !names(h.Hello.Continues, s.pinc)
		s.pinc, s.knows = src, false
	}
	if h.Long {
		s.window = int(min(h.Hello.Window, uint64(t.numbers.Window)))
		s.largest = int(min(h.Hello.Largest, uint64(t.numbers.Largest)))
	}
	s.sendHalf(t, h, dst, have, moved, isNew, bound)
	if h.Pong != 0 {
		c.ponged(t, h.Pong)
	}
	s.receiveHalf(t, c, h, src, dst, number)
	if h.Long && (dst != s.inc || have != s.inc) && s.long() {
		s.sayHello = true // it does not know me, or not this stream
	}
	if h.Ping != 0 {
		pad := 0
		if len(h.Chunks) == 0 && size > t.numbers.Probe/2 {
			pad = t.numbers.Probe
		}
		s.transmitBare(t, c, 0, h.Ping, pad)
	}
}

// sendHalf learns what the peer has of my stream: S1 to S7.
func (s *Session) sendHalf(t *Table, h *frame.Header, dst, have uint64, moved, isNew, bound bool) {
	fork, mine := s.next, have == s.inc
	for _, x := range s.continues {
		if x.Inc == have {
			fork, mine = x.Fork, true
		}
	}
	switch top := max(dst, have); {
	case top > s.inc: // S1
		s.reset(t, top, "name-taken")
	case mine && h.Done >= fork: // S2
		s.reset(t, 0, "own-state-stale")
	case mine && h.Done < s.base: // S3
		if isNew {
			s.reset(t, 0, "peer-lost-state")
		}
	case mine: // S4
		s.release(t, h.Done)
		seen := h.Seen
		if have != s.inc {
			seen = s.base // to follow me the peer goes back to what is done
		}
		if moved {
			s.moveSeen(t, seen)
			for i := range s.cursors {
				s.cursors[i].at = s.seen
				if s.rinc != 0 {
					s.cursors[i].carrier.flight.lost() // it was meant for a former life of the peer
				}
			}
		} else {
			s.moveSeen(t, max(seen, s.seen))
		}
		if have == s.inc {
			s.knows, s.hello, s.continues, s.old = true, false, nil, 0
		}
	case len(s.continues) > 0 && have > s.continues[0].Inc: // S5
		s.reset(t, 0, "own-state-stale")
	case isNew && bound: // S6
		s.reset(t, 0, "peer-lost-state")
	}
}

func names(list []frame.Continue, inc uint64) bool {
	for _, x := range list {
		if x.Inc == inc {
			return true
		}
	}
	return false
}

// reset starts my stream over (RESET): what was numbered to its end is in doubt, and while a restored state is not confirmed so
// is what came from the save.
func (s *Session) reset(t *Table, above uint64, why string) {
	doubt := uint64(0)
	unsure := func(m *message) {
		if !m.settled {
			m.settle(t, Reset, true)
			doubt++
		}
	}
	for _, m := range s.outstanding.list() {
		unsure(m)
	}
	s.outstanding = fifo[*message]{}
	if m := s.part; m != nil {
		s.part = nil
		if len(s.continues) > 0 {
			unsure(m)
		} else { // its end was never numbered: certainly not delivered, so it may go again
			m.sent, m.begin, m.end = 0, 0, 0
			s.queue.set(append([]*message{m}, s.queue.list()...))
			s.queueBytes += m.Size
		}
	}
	if len(s.continues) > 0 {
		for ; s.old > 0; s.old-- {
			m := s.queue.list()[0]
			unsure(m)
			s.queueBytes -= m.Size
			s.queue.drop(1)
		}
	}
	s.startOver(t, above)
	t.act(&StreamReset{Session: s.id, Peer: s.peer.url, Doubt: doubt, Reason: why})
	if why == "name-taken" {
		s.nameTaken(t)
	}
}

// startOver makes the send half that of a new incarnation.
func (s *Session) startOver(t *Table, above uint64) {
	s.chunks, s.continues, s.former = fifo[chunk]{}, nil, nil
	s.base, s.next, s.seen, s.old, s.counters.top = 0, 1, 0, 0, 0
	s.unseenCost, s.undoneCost = 0, 0
	s.knows = false
	s.controls = nil
	s.flows.reset()
	s.rto, s.rtoAt = 0, 0
	for i := range s.cursors {
		s.cursors[i].at, s.cursors[i].most = 0, 0
		s.cursors[i].carrier.flight.forget(s.id, frame.MaxVarint)
	}
	s.inc = t.nextIncarnation(s.inc, above)
	t.life = max(t.life, lifeOf(s.inc))
	for _, list := range [][]owed{s.owed.list(), s.known} {
		for i := range list {
			if o := &list[i]; o.state == refusing {
				o.gate = 0
				s.controls = append(s.controls, s.refusal(o))
			}
		}
	}
}

// nameTaken gives up when a twin of this runtime keeps taking its name.
func (s *Session) nameTaken(t *Table) {
	s.resets = append(s.resets, t.now)
	for len(s.resets) > 0 && s.resets[0]+60_000 <= t.now {
		s.resets = s.resets[1:]
	}
	if len(s.resets) > 5 {
		s.supersede(t)
	}
}

// supersede ends the session: a twin of this runtime lives.
func (s *Session) supersede(t *Table) {
	s.abandon(t, Superseded)
	s.dropOpen(t)
	s.dropBuffer(t)
	s.over = true
}

// Supersede ends the sessions with the peers of those domains at whose nodes a twin of this runtime took its place.
func (t *Table) Supersede(at func(domain string) bool) {
	for _, p := range t.inOrder() {
		if at(p.url.Domain()) {
			for _, s := range p.sessions {
				s.supersede(t)
			}
		}
	}
}

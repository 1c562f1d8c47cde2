package session

// inquiry is when the peer is asked what it has done, where it has seen everything.
type inquiry struct {
	at    uint64 // 0: nothing has to be asked
	tries uint64
}

// inquire asks the peer what it has done if it has seen all that is numbered and says nothing more. The frame that told may have
// died with a carrier, and what was seen is not sent again, so that neither the outcomes nor the window would ever come. It is
// asked again after pauses that double, for a listener may take its time.
func (s *Session) inquire(t *Table) {
	if !s.undone() {
		s.ask = inquiry{}
		return
	}
	pause := min(s.rtoLength(t)<<min(s.ask.tries, 16), t.numbers.MaxRTO)
	if s.ask.at == 0 {
		s.ask.at = t.now + pause
		return
	}
	if t.now < s.ask.at {
		return
	}
	s.ask.at = t.now + pause
	for _, c := range s.use {
		if c == nil || !c.writable(t) {
			continue
		}
		if c.relay == nil && s.ask.tries > 0 && c.unanswered > 0 && c.state == good {
			c.intoDoubt(t, "timeout")
			t.touch(s.peer)
		}
		s.transmitBare(t, c, c.newPing(t, false), 0, 0)
		s.ask.tries++
	}
}

// undone says whether the peer has seen all that is numbered, has not done all of it, and somebody waits for that.
func (s *Session) undone() bool {
	if s.seen+1 < s.next || s.outstanding.len() == 0 || s.rests() {
		return false
	}
	if s.part != nil || s.queue.len() > 0 {
		return true
	}
	for _, m := range s.outstanding.list() {
		if !m.settled {
			return true
		}
	}
	return false
}

// inquireNow lets what waits for an answer be asked at once: a carrier that may have had the answer is gone.
func (s *Session) inquireNow(t *Table) {
	if s.ask.at != 0 {
		s.ask = inquiry{at: t.now}
	}
}

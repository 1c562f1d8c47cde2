package session

import "github.com/hyroute/hyroute/runtime/frame"

// lately is how long ago, in ms, a session may have been used for its peer to be told of a new life unasked.
const lately = 10 * 60_000

// Restored begins a new life from the state that a former one left (session.md 3.4). wall is the wall clock now, in ms since 1970. renamed
// gives the number that each relay stub has from now on: there are new ones, and none is live. Nothing is held by the body any more, and
// no data channel is left.
func (t *Table) Restored(wall uint64, renamed func(stub uint64) uint64) {
	t.wall = wall - t.now
	t.skipLives()
	t.asked, t.parked, t.dirty = 0, nil, nil
	t.channels = map[uint64]*carrier{}
	for _, r := range t.relays {
		*r = relay{stub: renamed(r.stub)}
		r.forgetHandles()
	}
	for _, p := range t.inOrder() {
		p.restored()
		for _, s := range p.sessions {
			s.restored(t)
		}
		p.dirty, p.parked = false, false
		t.touch(p)
	}
}

// skipLives sees to it that two lives that start from one state never draw the same incarnation, even if the clock went back: without
// a clock above the state's own, only chance can tell them apart.
func (t *Table) skipLives() {
	ticks := t.life >> kBits
	if (t.wall+t.now)>>tickBits <= ticks {
		jump := t.random.Uint64()
		t.life = ((ticks+1+jump>>kBits&kMask)<<kBits | jump&kMask) & lifeMask
	}
}

func (p *peer) restored() {
	for _, c := range p.relays {
		*c = carrier{peer: p, relay: c.relay, state: good}
	}
	p.channels = nil
	p.lastChunk, p.lively = 0, false
	p.trial, p.bothGood = trial{}, 0
	p.absent, p.missed, p.gone, p.why = false, 0, false, "restored"
}

func (s *Session) restored(t *Table) {
	s.restoreReceiving()
	s.restoreSending(t)
	s.sayHello = !s.settled() || t.now < s.lastUse+lately
}

// restoreSending makes the send half that of a new incarnation, which says whose numbers it continues. The flows stay defined: to define
// one again would tell the peer that everything sent before its refusal was known has come.
func (s *Session) restoreSending(t *Table) {
	was := frame.Continue{Inc: s.inc, Fork: s.next}
	s.inc = t.newLife()
	s.knows, s.hello, s.helloAt = false, false, 0
	s.over = false
	s.old = s.queue.len()
	s.cursors, s.use = nil, carriers{}
	s.rto, s.rtoAt, s.ask = 0, 0, inquiry{}
	s.moveSeen(t, s.base)
	if len(s.continues) == frame.MaxContinues {
		s.reset(t, 0, "own-state-stale")
		return
	}
	s.continues = append(s.continues[:len(s.continues):len(s.continues)], was)
	kept := []frame.Continue{was}
	for i := len(s.former) - 1; i >= 0 && len(kept) < frame.MaxContinues && s.former[i].Fork-1 > s.base; i-- {
		kept = append([]frame.Continue{s.former[i]}, kept...)
	}
	s.former = kept
}

// meant says whether a number of the stream with that name is one of mine: a peer that has not heard of a new life yet refuses what it
// had of the one before, and that may come late.
func (s *Session) meant(inc, number uint64) bool {
	if inc == s.inc {
		return true
	}
	for _, x := range s.former {
		if x.Inc == inc {
			return number < x.Fork
		}
	}
	return false
}

// restoreReceiving goes back to what was taken, in order. The body lost the rest, and the peer sends it again.
func (s *Session) restoreReceiving() {
	s.known = append(s.owed.list(), s.known...)
	s.again = max(s.again, s.handedOver())
	s.rseen = s.done()
	s.owed, s.owedCost = fifo[owed]{}, 0
	for i := len(s.defined) - 1; i >= 0 && s.defined[i].number > s.rseen; i-- {
		s.incoming[s.defined[i].flow] = s.defined[i].before
	}
	s.defined = nil
	s.buffer, s.bufferCost, s.open = window{}, 0, opened{}
	s.ackAt, s.ackChunks, s.ackBytes, s.told = 0, 0, 0, 0
}

// defined is a flow that was defined after what is done: before is what its index meant until then.
type defined struct {
	number, flow uint64
	before       inflow
}

// trimDefined forgets what a restore would not need any more.
func (s *Session) trimDefined() {
	n, done := 0, s.done()
	for n < len(s.defined) && s.defined[n].number <= done {
		n++
	}
	s.defined = s.defined[n:]
}

// recall gives back what a former life did with the message in these chunks, if there was one: what it had before it is not handed over a
// second time, and what it knew to have expired is not handed over after all.
func (s *Session) recall(begin, end uint64) (o owed, ok bool) {
	for i, k := range s.known {
		if k.begin == begin && k.end == end {
			s.known = append(s.known[:i:i], s.known[i+1:]...)
			return k, true
		}
	}
	return owed{}, false
}

// forgetKnown drops what can not come again: its chunks have come, and were no message any more.
func (s *Session) forgetKnown() {
	for len(s.known) > 0 && s.known[0].end <= s.rseen {
		s.known = s.known[1:]
	}
}

// knownEnd is up to where a former life took or refused messages.
func (s *Session) knownEnd() uint64 {
	for i := len(s.known) - 1; i >= 0; i-- {
		if s.known[i].state != handed {
			return s.known[i].end
		}
	}
	return 0
}

// forgetFrom forgets what a former life had from number fork on: the peer does not know of it, and gives these numbers anew.
func (s *Session) forgetFrom(fork uint64) {
	s.again = min(s.again, fork-1)
	for n := len(s.known); n > 0 && s.known[n-1].end >= fork; n-- {
		s.known = s.known[:n-1]
	}
}

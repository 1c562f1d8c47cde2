package session

import "github.com/hyroute/hyroute/runtime/snapshot"

// flight bounds what is on its way to a peer on one carrier. What a slow link can not move yet lies in a queue somewhere, in a socket,
// the kernel, a router or the node, and whatever is sent next waits behind it: a message of another lane, or the PING that the lease
// hangs on. So the ways of frames are timed, and the bound follows: what moved in that time may be on its way, and so much more as
// to keep a queue of Numbers.Standing (as LEDBAT does, RFC 6817). Without a queue anywhere it grows to Numbers.MostFlight.
//
// A carrier keeps order, so what is through is known from the last thing that is: an answered PING, or a chunk that was seen and
// that no other carrier was given.
type flight struct {
	given   uint64 // bytes so far
	through uint64 // and how many of them are known to have arrived
	marks   []mark // the oldest first
	limit   int    // of given - through; 0: as at the start
	steady  bool   // the limit was met: it does not double any more
	base    uint64 // the least time of a way lately, in ms
	based   uint64 // when that was measured
	halved  bool   // it is measured anew, with half on the way so that the queue is empty
}

// mark is a frame that is on its way: when the chunk was seen, all up to it is through.
type mark struct {
	session, number uint64
	given           uint64 // with it
	at              uint64 // when it was sent
	ahead           int    // what was on its way then, itself included
}

// smallFlight is how much a session may have unseen whatever others have on their way: a lane with little to say never waits.
const smallFlight = 4 << 10

func (f *flight) most(t *Table) int {
	limit := f.limit
	if limit == 0 {
		limit = t.numbers.FirstFlight
	}
	if f.halved {
		limit /= 2
	}
	return limit
}

func (f *flight) onTheWay() int { return int(f.given - f.through) }

// admits says whether the carrier may be given one more frame of a session.
func (c *carrier) admits(t *Table, s *Session) bool {
	most := c.flight.most(t)
	if c.state == doubt {
		most = t.numbers.Frame // the relay has it as well, and nothing should stand before the PING
	}
	return c.flight.onTheWay() < most || s.unseenCost < smallFlight
}

// marked notes that a frame with chunks up to number was given to the carrier.
func (s *Session) marked(t *Table, c *carrier, number uint64) {
	alone := true
	for i := range s.cursors {
		x := &s.cursors[i]
		f := &x.carrier.flight
		switch {
		case x.carrier != c:
			f.forget(s.id, number)
			alone = alone && x.most < number
		case number > x.most:
			x.most = number
		default:
			alone = false // a repeat: the first one may be what is seen
		}
	}
	if f := &c.flight; alone {
		f.marks = append(f.marks, mark{s.id, number, f.given, t.now, f.onTheWay()})
	}
}

// forget drops the marks of a session up to number: another carrier was given the same, or the numbers mean nothing any more.
func (f *flight) forget(session, number uint64) {
	kept := f.marks[:0]
	for _, m := range f.marks {
		if m.session != session || m.number > number {
			kept = append(kept, m)
		}
	}
	f.marks = kept
}

// lost forgets what is on its way: it will not arrive.
func (f *flight) lost() { f.through, f.marks = f.given, f.marks[:0] }

// overflowed learns that a queue on the way was full.
func (f *flight) overflowed(t *Table) {
	f.limit, f.steady = max(f.most(t)/2, t.numbers.LeastFlight), true
}

// seen learns that the peer has seen the chunks of a session up to number.
func (f *flight) seen(t *Table, session, number uint64) {
	last := -1
	for i := range f.marks {
		if f.marks[i].session == session && f.marks[i].number <= number {
			last = i
		}
	}
	if last < 0 {
		return
	}
	m := f.marks[last]
	f.marks = f.marks[:copy(f.marks, f.marks[last+1:])]
	f.through = max(f.through, m.given)
	f.measured(t, max(t.now-m.at, 1), m.ahead)
}

// answered learns that all that was given before a PING is through, and how long that took.
func (f *flight) answered(t *Table, given, took uint64) {
	f.through = max(f.through, given)
	if took = max(took, 1); f.base == 0 || took < f.base {
		f.base, f.based = took, t.now
	}
}

// measured sets the limit after a frame that took so long, with so much on its way.
func (f *flight) measured(t *Table, took uint64, ahead int) {
	n := &t.numbers
	switch {
	case f.base == 0 || took < f.base || f.halved && ahead <= f.most(t)+n.Frame:
		f.base, f.based, f.halved = took, t.now, false
	case t.now >= f.based+n.Rebase && f.most(t) < n.MostFlight:
		f.halved = true
	}
	room := f.base + n.Standing
	fits := int(uint64(ahead) * room / took)
	f.steady = f.steady || took > room
	if took <= room {
		fits = max(fits, f.limit)
	}
	if !f.steady {
		fits = max(fits, 2*ahead, n.FirstFlight)
	}
	f.limit = min(max(fits, n.LeastFlight), n.MostFlight)
}

func (f *flight) snapshot(c *snapshot.Codec) {
	for _, v := range []*uint64{&f.given, &f.through, &f.base, &f.based} {
		c.Uint64(v)
	}
	snapshot.Slice(c, &f.marks, func(m *mark) {
		for _, v := range []*uint64{&m.session, &m.number, &m.given, &m.at} {
			c.Uint64(v)
		}
		c.Int(&m.ahead)
	})
	c.Int(&f.limit)
	c.Bool(&f.steady)
	c.Bool(&f.halved)
}

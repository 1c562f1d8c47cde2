package session

import (
	"testing"

	"github.com/hyroute/hyroute/scenarios/history"
)

// The scenarios of session.md part 9, and where each is proven:
//
//	 1 TestFirstContact, corpus session/first_contact        13 corpus session/relay_lost_what_it_had, TestModelTimed
//	 2 corpus session/first_frame_lost                       14 corpus session/peer_is_away
//	 3 corpus session/simultaneous_open, TestModel*Bags      15 corpus session/peer_has_no_sessions
//	 4 TestUpgradeMidStream                                  16 to 22 restore_test.go, TestModelLossesOfMemory
//	 5 TestKnownFault14OneWayChannel                         23 corpus session/deadlines, half_sent_at_its_deadline, seen_but_not_done
//	 6 corpus peer/large_frames_get_lost                     24 TestScenario24LargeMessageCutTwice
//	 7 TestKnownFault6ProbesPassPayloadDoesNot               25 TestScenario25ReaderStops
//	 8 TestSilentDeathAndReturn, corpus peer/silent_death
//	 9 corpus peer/thaw, TestModelTimed
//	10 corpus peer/woken_late, TestModelTimed
//	11 corpus peer/idle_then_one_message
//	12 corpus peer/relay_dies_channel_lives, TestModelTimed
//
// The tests below are named after the cases of known-faults.md that they would have shown.

// bothChat lets both ends post a short message each so many ms, up to a time.
func (m *timed) bothChat(every, end uint64) {
	m.chat(0, every, end)
	m.chat(1, every, end)
}

// settledAll fails unless everything that was posted is delivered.
func (m *timed) settledAll(t *testing.T) {
	t.Helper()
	m.check(t)
	if s := history.Check(m.records, history.Options{OneClock: true}).Summary; s.Posted == 0 || s.Delivered != s.Posted {
		t.Errorf("%d of %d messages were delivered", s.Delivered, s.Posted)
	}
}

func (m *timed) longestGap() uint64 { return max(m.gap[0], m.gap[1]) }

// preferred is the stub that an end prefers.
func (m *timed) preferred(end int) uint64 {
	e := m.ends[end]
	stub, _, _ := e.table.Path(e.peer, Key{Set: Relay | Direct})
	return stub
}

func TestKnownFault1UpgradeMidstream(t *testing.T) {
	m := newTimed()
	m.bothChat(100, 20_000)
	m.runUntil(2000)
	k := m.addChannel(10, 5)
	m.runUntil(25_000)
	m.settledAll(t)
	for i, e := range m.ends {
		if len(e.moves) != 1 || m.preferred(i) != k.stub {
			t.Errorf("side %d moved %+v", i, e.moves)
		}
	}
	if g := m.longestGap(); g > 150 {
		t.Errorf("longest gap %d ms", g)
	}
}

func TestKnownFault2DirectBlocked(t *testing.T) {
	m := newTimed()
	k := m.addChannel(10, 5)
	k.stop(true)
	m.bothChat(100, 60_000)
	m.runUntil(70_000)
	m.settledAll(t)
	if len(m.ends[0].moves)+len(m.ends[1].moves) != 0 || m.longestGap() > 150 {
		t.Errorf("moves %v and %v, longest gap %d ms", m.ends[0].moves, m.ends[1].moves, m.longestGap())
	}
	if k.open {
		t.Error("a channel that nothing passes is still tried after a minute")
	}
	if n := m.frames[k.stub]; n > 2*15_000/700+20 {
		t.Errorf("%d frames were given to it", n)
	}
}

func TestKnownFault4NeverDowngrades(t *testing.T) {
	m := newTimed()
	k := m.addChannel(10, 5)
	m.bothChat(100, 60_000)
	m.runUntil(20_000)
	k.stop(true)
	m.runUntil(21_800)
	for i := range m.ends {
		if m.preferred(i) != modelRelay {
			t.Errorf("side %d still prefers the dead channel", i)
		}
	}
	k.pass = [2]bool{true, true}
	m.runUntil(40_000)
	for i := range m.ends {
		if m.preferred(i) != k.stub {
			t.Errorf("side %d does not come back to the channel", i)
		}
	}
	m.runUntil(65_000)
	m.settledAll(t)
	if g := m.longestGap(); g > 2000 {
		t.Errorf("longest gap %d ms", g)
	}
}

// TestKnownFault5OscillatesOnReception: what comes in by a path says nothing about sending on it, however the frames alternate.
func TestKnownFault5OscillatesOnReception(t *testing.T) {
	m := newTimed()
	k := m.addChannel(10, 5)
	n := 0
	k.passes = func(int, int) bool { n++; return n%2 == 0 } // every other frame, either way
	m.bothChat(100, 30_000)
	m.runUntil(40_000)
	m.settledAll(t)
	for i, e := range m.ends {
		if len(e.moves) > 20 {
			t.Errorf("side %d changed its path %d times in 30 s", i, len(e.moves))
		}
	}
	oneWay := newTimed()
	k = oneWay.addChannel(10, 5)
	k.pass[1], k.drop = false, true
	oneWay.bothChat(100, 10_000)
	oneWay.runUntil(12_000)
	oneWay.settledAll(t)
	if len(oneWay.ends[0].moves)+len(oneWay.ends[1].moves) != 0 {
		t.Errorf("a path that only receives is switched to: %v, %v", oneWay.ends[0].moves, oneWay.ends[1].moves)
	}
}

func TestKnownFault6ProbesPassPayloadDoesNot(t *testing.T) {
	m := newTimed()
	k := m.addChannel(10, 5)
	m.runUntil(2000)
	k.passes = func(_, size int) bool { return size < 1000 }
	end := uint64(60_000)
	for _, from := range []int{0, 1} {
		var post func()
		post = func() {
			m.ends[from].post(3000, 60_000, "", 0)
			m.arm(m.ends[from])
			if m.now < end {
				m.after(100, post)
			}
		}
		post()
	}
	m.runUntil(10_000)
	for i := range m.ends {
		if m.preferred(i) != modelRelay {
			t.Errorf("side %d trusts a path that payload does not pass", i)
		}
	}
	moves := len(m.ends[0].moves)
	m.runUntil(70_000)
	m.settledAll(t)
	if n := len(m.ends[0].moves); n != moves || n > 4 { // up, idle and back, and down
		t.Errorf("the path changed %d times: %+v", n, m.ends[0].moves)
	}
	if g := m.longestGap(); g > 3000 {
		t.Errorf("longest gap %d ms", g)
	}
}

func TestKnownFault8EverythingBlackForAMinute(t *testing.T) {
	m := newTimed()
	k := m.addChannel(10, 5)
	m.bothChat(200, 90_000)
	m.runUntil(10_000)
	k.stop(true)
	m.links[0].stop(true)
	m.runUntil(70_000)
	m.gap, m.last = [2]uint64{}, [2]uint64{70_000, 70_000}
	k.pass, m.links[0].pass = [2]bool{true, true}, [2]bool{true, true}
	m.runUntil(120_000)
	m.settledAll(t)
	if g := m.longestGap(); g > 10_000 {
		t.Errorf("it goes on %d ms after the path is back", g)
	}
}

func TestKnownFault9PathThereBeforeItIsWanted(t *testing.T) {
	m := newTimed()
	k := m.addChannel(10, 5)
	m.runUntil(5000)
	m.bothChat(100, 8000)
	m.runUntil(5300)
	for i := range m.ends {
		if m.preferred(i) != k.stub {
			t.Errorf("side %d does not use the channel that was open before", i)
		}
	}
	m.runUntil(12_000)
	m.settledAll(t)
}

func TestKnownFault10ProbesForEver(t *testing.T) {
	m := newTimed()
	k, l := m.addChannel(10, 5), m.addChannel(20, 5)
	m.bothChat(100, 5000)
	m.runUntil(10_000)
	before := m.frames[k.stub] + m.frames[l.stub] + m.frames[modelRelay]
	m.runUntil(70_000)
	if n := m.frames[k.stub] + m.frames[l.stub] + m.frames[modelRelay] - before; n > 0 {
		t.Errorf("%d frames in an idle minute", n)
	}
	m.settledAll(t)
}

func TestKnownFault14OneWayChannel(t *testing.T) {
	for blocked := range 2 {
		m := newTimed()
		k := m.addChannel(10, 5)
		k.pass[blocked], k.drop = false, true
		m.bothChat(50, 30_000)
		m.runUntil(40_000)
		m.settledAll(t)
		if len(m.ends[0].moves)+len(m.ends[1].moves) != 0 || m.longestGap() > 150 {
			t.Errorf("moves %v and %v, longest gap %d ms", m.ends[0].moves, m.ends[1].moves, m.longestGap())
		}
	}
}

// TestKnownFault40FramesStaySmall: there is one size of frames for all receivers and carriers, whatever the message.
func TestKnownFault40FramesStaySmall(t *testing.T) {
	m := newTimed()
	k := m.addChannel(1, 1)
	m.runUntil(1000)
	largest := 0
	for _, l := range m.links {
		l.passes = func(_, size int) bool { largest = max(largest, size); return true }
	}
	for _, size := range []int{1, 200, 16_000, 16_001, 190_000, 1 << 20, 16 << 20} {
		m.ends[0].post(size, 60_000, "", 0)
		m.arm(m.ends[0])
		m.runUntil(m.now + 5000)
	}
	m.settledAll(t)
	if largest > 64<<10 || m.frames[k.stub] == 0 {
		t.Errorf("the largest frame has %d bytes", largest)
	}
}

// TestKnownFault42BuffersAreOurs: what is given to a carrier that moves nothing is bounded by us, not by it.
func TestKnownFault42BuffersAreOurs(t *testing.T) {
	m := newTimed()
	k := m.addChannel(10, 5)
	m.runUntil(1000)
	k.stop(false)
	m.links[0].stop(false)
	for range 40 {
		m.ends[0].post(1<<20, 100_000, "", 0)
	}
	m.arm(m.ends[0])
	given := 0
	for _, l := range m.links {
		l.passes = func(to, size int) bool {
			if to == 1 {
				given += size
			}
			return true
		}
	}
	m.runUntil(m.now + 900)
	for _, l := range m.links {
		for _, x := range l.held[1] {
			given += len(x.head) + x.size()
		}
	}
	if given > 2<<20 {
		t.Errorf("%d bytes were given to carriers that move nothing", given)
	}
}

// TestKnownFault45TwoReconnectsInARow, with 50 unacknowledged and, as in case 46, more posted while they are sent again.
func TestKnownFault45TwoReconnectsInARow(t *testing.T) {
	for _, times := range []int{2, 3} {
		m := newTimed()
		m.bothChat(100, 1000)
		m.runUntil(2000)
		for i := range 50 {
			for _, e := range m.ends {
				e.post(100+i*700, 60_000, "", 0)
				m.arm(e)
			}
		}
		for range times {
			m.runUntil(m.now + 20)
			m.cutRelay(30)
			m.runUntil(m.now + 45)
			for _, e := range m.ends {
				e.post(50, 60_000, "", 0)
				m.arm(e)
			}
		}
		m.runUntil(m.now + 10_000)
		m.settledAll(t)
		if s := history.Check(m.records, history.Options{OneClock: true}).Summary; s.Posted < 100 {
			t.Errorf("%+v", s)
		}
	}
}

// TestScenario24LargeMessageCutTwice: what had come stays, and what was on its way goes again.
func TestScenario24LargeMessageCutTwice(t *testing.T) {
	const size = 16 << 20
	m := newTimed()
	m.links[0].line = &timedLine{rate: 12_500}
	k := m.addChannel(10, 5)
	k.line = &timedLine{rate: 12_500}
	m.runUntil(1000)
	sent := 0
	for _, l := range m.links {
		l.passes = func(to, size int) bool {
			if to == 1 {
				sent += size
			}
			return true
		}
	}
	m.ends[0].post(size, 60_000, "files", 0)
	m.arm(m.ends[0])
	m.runUntil(m.now + size/3/12_500)
	k.stop(true) // the channel dies in silence
	m.runUntil(m.now + 2000)
	m.cutRelay(500) // and then the socket
	m.runUntil(m.now + 15_000)
	m.settledAll(t)
	if window := DefaultNumbers().Window; sent > size+2*window+size/100 {
		t.Errorf("%d bytes went again, two windows are %d", sent-size, 2*window)
	}
	t.Logf("%d bytes went again", sent-size)
}

// lazy is a timed world whose second end does not take what is handed over while it stops.
type lazy struct {
	*timed
	stopped bool
	kept    []func()
}

func (m *lazy) arrived(e *modelEnd, r modelReceipt) {
	if e.side == 1 && m.stopped {
		m.kept = append(m.kept, func() { m.timed.arrived(e, r) })
		return
	}
	m.timed.arrived(e, r)
}

// TestScenario25ReaderStops: a reader that takes nothing for a minute is no dead path.
func TestScenario25ReaderStops(t *testing.T) {
	for _, direct := range []bool{false, true} {
		m := &lazy{timed: newTimed()}
		for _, e := range m.ends {
			e.w = m
		}
		stub := uint64(modelRelay)
		if direct {
			stub = m.addChannel(10, 5).stub
		}
		m.runUntil(1000)
		m.stopped = true
		rejected := 0
		end := m.now + 60_000
		var post func()
		post = func() {
			m.ends[0].post(5000, 300_000, "", 0)
			m.arm(m.ends[0])
			if m.now < end {
				m.after(10, post)
			}
		}
		post()
		m.runUntil(m.now + 20_000)
		before := m.frames[stub]
		held := m.ends[1].heldBytes()
		m.runUntil(end + 100)
		if held > 2<<20 || m.ends[1].heldBytes() > 2<<20 {
			t.Errorf("direct %v: the receiver holds %d bytes", direct, m.ends[1].heldBytes())
		}
		// Questions and PINGs go on, payload does not.
		if n := m.frames[stub] - before; n > 2*2*40_000/700+40 {
			t.Errorf("direct %v: %d frames while nothing can move", direct, n)
		}
		for _, x := range m.ends[0].moves {
			if x.Reason == "timeout" || x.Reason == "lease-over" && m.preferred(0) != stub {
				t.Errorf("direct %v: a slow reader is taken for a dead path: %+v", direct, x)
			}
		}
		m.stopped = false
		for _, take := range m.kept {
			m.after(0, take)
		}
		m.runUntil(m.now + 60_000)
		m.check(t)
		for _, r := range m.records {
			if r.Outcome == history.OutcomeRejected {
				rejected++
				if r.Reason != "too-many" || r.Maybe {
					t.Fatalf("direct %v: rejected %s, maybe %v", direct, r.Reason, r.Maybe)
				}
			}
		}
		if s := history.Check(m.records, history.Options{OneClock: true}).Summary; rejected == 0 || s.Delivered+s.Rejected != s.Posted {
			t.Errorf("direct %v: %+v", direct, s)
		}
	}
}

package session

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hyroute/hyroute/scenarios/history"
)

// timed is a world in which carriers keep order while they live, and time is what counts: 500 messages a second each way,
// one fault, and how long the application at most waits for the next message (session.md part 4).
type timed struct {
	r       *rand.Rand
	now     uint64
	plan    timedPlan
	number  uint64
	ends    [2]*modelEnd
	frozen  [2]bool
	links   []*timedLink
	rate    uint64 // ms between two posts
	records []history.Record
	err     string
	quiet   [2]uint64 // from, to: nothing is posted
	last    [2]uint64
	gap     [2]uint64
	frames  map[uint64]int
}

type timedEvent struct {
	at, number uint64
	do         func()
}

type timedPlan []timedEvent

func (p timedPlan) Len() int { return len(p) }
func (p timedPlan) Less(i, j int) bool {
	return p[i].at < p[j].at || p[i].at == p[j].at && p[i].number < p[j].number
}
func (p timedPlan) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *timedPlan) Push(x any)   { *p = append(*p, x.(timedEvent)) }
func (p *timedPlan) Pop() any {
	old := *p
	x := old[len(old)-1]
	*p = old[:len(old)-1]
	return x
}

// timedLine moves so many bytes a ms each way. What it can not move yet waits, in a queue without end. Links may share one.
type timedLine struct {
	rate uint64
	busy [2]uint64 // until when, by the side that it leads to
}

// timedLink is a carrier, both directions.
type timedLink struct {
	stub            uint64
	latency, jitter uint64
	open            bool
	pass            [2]bool // towards side i
	drop            bool    // what does not pass is dropped, not kept
	held            [2][]modelLetter
	last            [2]uint64
	loss            float64
	socket          int
	line            *timedLine                  // nil: as fast as can be
	passes          func(to int, size int) bool // nil: all of them
}

func (m *timed) time() uint64 { return m.now }
func (m *timed) wall() uint64 { return 1_790_000_000_000 + m.now }
func (m *timed) refuses() bool {
	return false
}
func (m *timed) numbers() Numbers { return DefaultNumbers() }
func (m *timed) log(_ *modelEnd, r history.Record) {
	r.At = m.now
	m.records = append(m.records, r)
}
func (m *timed) fail(format string, args ...any) {
	if m.err == "" {
		m.err = fmt.Sprintf(format, args...)
	}
}

func (m *timed) after(ms uint64, do func()) {
	m.number++
	heap.Push(&m.plan, timedEvent{m.now + ms, m.number, do})
}

func (m *timed) arrived(e *modelEnd, r modelReceipt) {
	if m.last[e.side] != 0 {
		m.gap[e.side] = max(m.gap[e.side], m.now-m.last[e.side])
	}
	m.last[e.side] = m.now
	m.after(0, func() {
		e.answer(r)
		m.arm(e)
	})
}

// arm plans the timer of an end.
func (m *timed) arm(e *modelEnd) {
	at := e.wake
	if at == 0 || m.frozen[e.side] {
		return
	}
	m.after(max(at, m.now)-m.now, func() {
		if e.wake == at && !m.frozen[e.side] {
			e.tick()
			m.arm(e)
		}
	})
}

func (m *timed) link(stub uint64) *timedLink {
	for _, l := range m.links {
		if l.stub == stub {
			return l
		}
	}
	return nil
}

func (m *timed) send(from *modelEnd, l modelLetter) {
	k := m.link(l.stub)
	if k == nil || !k.open {
		return
	}
	m.frames[l.stub]++
	to := 1 - from.side
	switch {
	case k.passes != nil && !k.passes(to, len(l.head)+l.size()):
	case !k.pass[to] && k.drop, k.loss > 0 && m.r.Float64() < k.loss:
	case !k.pass[to]:
		k.held[to] = append(k.held[to], l)
	default:
		m.fly(k, to, l)
	}
}

func (m *timed) fly(k *timedLink, to int, l modelLetter) {
	at := m.now
	if line := k.line; line != nil {
		line.busy[to] = max(line.busy[to], m.now) + (uint64(len(l.head)+l.size())+40)/line.rate
		at = line.busy[to]
	}
	at += k.latency
	if k.jitter > 0 {
		at += m.r.Uint64N(k.jitter)
	}
	at = max(at, k.last[to])
	k.last[to] = at
	socket := k.socket
	m.after(at-m.now, func() {
		switch {
		case k.socket != socket || !k.open: // the socket it was in is gone
		case k.pass[to] && !m.frozen[to]:
			m.ends[to].receive(l)
			m.arm(m.ends[to])
		case !k.drop || k.pass[to]:
			k.held[to] = append(k.held[to], l)
		}
	})
}

func (m *timed) thaw(k *timedLink) {
	for to := range k.held {
		held := k.held[to]
		k.held[to] = nil
		for _, l := range held {
			m.fly(k, to, l)
		}
	}
}

// addChannel opens a data channel.
func (m *timed) addChannel(latency, jitter uint64) *timedLink {
	k := &timedLink{stub: modelChannel + uint64(len(m.links)), latency: latency, jitter: jitter, open: true, pass: [2]bool{true, true}}
	m.links = append(m.links, k)
	for _, e := range m.ends {
		e.table.Advance(m.now)
		e.table.ChannelOpened(e.peer, modelRelay, k.stub)
		e.run()
		m.arm(e)
	}
	return k
}

func (m *timed) closeChannel(end *modelEnd, stub uint64) {
	k := m.link(stub)
	k.open = false
	other := m.ends[1-end.side]
	m.after(k.latency, func() {
		other.table.Advance(m.now)
		other.table.ChannelGone(stub, "closed")
		other.run()
		m.arm(other)
	})
}

// cutRelay closes the relay sockets for a while.
func (m *timed) cutRelay(ms uint64) {
	k := m.links[0]
	k.open = false
	k.socket++
	k.held = [2][]modelLetter{}
	for _, e := range m.ends {
		e.table.Advance(m.now)
		e.table.RelayGone(modelRelay)
		e.run()
		m.arm(e)
	}
	m.after(ms, func() {
		k.open = true
		for _, e := range m.ends {
			e.relayOpened()
			m.arm(e)
		}
	})
}

func (m *timed) freeze(side int, ms uint64) {
	m.frozen[side] = true
	m.after(ms, func() {
		m.frozen[side] = false
		for _, k := range m.links {
			m.thaw(k)
		}
		m.ends[side].tick()
		m.arm(m.ends[side])
	})
}

func (k *timedLink) stop(drop bool) { k.pass, k.drop = [2]bool{}, drop }

// timedScenario is a fault and the longest gap it may cost, in ms.
type timedScenario struct {
	name      string
	limit     uint64
	secs      uint64
	setup     func(*timed)
	overflows bool // the queue
}

var timedScenarios = []timedScenario{
	{"relay only", 150, 60, func(m *timed) {}, false},
	{"upgrade at 2 s", 150, 60, func(m *timed) { m.after(2000, func() { m.addChannel(10, 5) }) }, false},
	{"silent death at 20 s, for good", 2000, 60, func(m *timed) {
		k := m.addChannel(10, 5)
		m.after(20_000, func() { k.stop(true) })
	}, false},
	{"channel frozen 30 s, thaws", 2000, 90, func(m *timed) {
		k := m.addChannel(10, 5)
		m.after(20_000, func() { k.stop(false) })
		m.after(50_000, func() { k.pass = [2]bool{true, true}; m.thaw(k) })
	}, false},
	{"channel one way from 20 s", 2000, 60, func(m *timed) {
		k := m.addChannel(10, 5)
		m.after(20_000, func() { k.pass[0], k.drop = false, true })
	}, false},
	{"channel one way from the start", 150, 60, func(m *timed) {
		k := m.addChannel(10, 5)
		k.pass[0], k.drop = false, true
	}, false},
	{"channel flaps each 5 s", 2000, 120, func(m *timed) {
		k := m.addChannel(10, 5)
		for s := uint64(5); s < 115; s += 10 {
			m.after(s*1000, func() { k.stop(false) })
			m.after((s+5)*1000, func() { k.pass = [2]bool{true, true}; m.thaw(k) })
		}
	}, false},
	{"relay restart 1 s, channel up", 150, 60, func(m *timed) {
		m.addChannel(10, 5)
		m.after(20_000, func() { m.cutRelay(1000) })
	}, false},
	{"relay restart 1 s, relay only", 2300, 60, func(m *timed) { m.after(20_000, func() { m.cutRelay(1000) }) }, false},
	{"frames in the relay lost, nobody notices", 2500, 60, func(m *timed) { m.after(20_000, func() { m.links[0].socket++ }) }, false},
	{"node drops one frame in 100", 4000, 60, func(m *timed) { m.links[0].loss = 0.01 }, false},
	{"peer frozen 45 s, wakes", 46_500, 120, func(m *timed) {
		m.addChannel(10, 5)
		m.after(20_000, func() { m.freeze(1, 45_000) })
	}, true},
	{"slow relay 3 s jitter, channel comes and dies", 8000, 60, func(m *timed) {
		m.links[0].latency, m.links[0].jitter = 500, 3000
		m.rate = 25
		k := m.addChannel(10, 5)
		m.after(20_000, func() { k.stop(true) })
	}, false},
	{"two channels, older dies", 2000, 60, func(m *timed) {
		a := m.addChannel(10, 5)
		m.after(5000, func() { m.addChannel(12, 5) })
		m.after(20_000, func() { a.stop(true) })
	}, false},
	{"idle 20 s, then traffic on a dead channel", 2000, 60, func(m *timed) {
		k := m.addChannel(10, 5)
		m.quiet = [2]uint64{10_000, 30_000}
		m.after(20_000, func() { k.stop(true) })
	}, false},
}

func runTimed(sc timedScenario, seed uint64) *timed {
	m := &timed{r: rand.New(rand.NewPCG(seed, 7)), now: 1, rate: 2, frames: map[uint64]int{}}
	if testing.Short() {
		m.rate = 20
	}
	m.links = []*timedLink{{stub: modelRelay, latency: 40, jitter: 10, open: true, pass: [2]bool{true, true}, drop: true}}
	for i := range m.ends {
		m.ends[i] = newModelEnd(m, i)
	}
	for _, e := range m.ends {
		e.relayOpened()
	}
	sc.setup(m)
	end := sc.secs * 1000
	for i, e := range m.ends {
		var post func()
		post = func() {
			if !m.frozen[i] && (m.now <= m.quiet[0] || m.now >= m.quiet[1]) {
				e.post(200, 120_000, "", 0)
				m.arm(e)
			}
			if m.now < end {
				m.after(m.rate, post)
			}
		}
		m.after(1, post)
	}
	if to := m.quiet[1]; to > 0 {
		m.after(to, func() { m.last, m.gap = [2]uint64{m.now, m.now}, [2]uint64{} })
	}
	for len(m.plan) > 0 && m.err == "" && m.now < end+60_000 {
		e := heap.Pop(&m.plan).(timedEvent)
		m.now = e.at
		e.do()
	}
	return m
}

// TestModelTimed runs the scenarios that session.md 4.6 gives figures for.
func TestModelTimed(t *testing.T) {
	for _, sc := range timedScenarios {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			m := runTimed(sc, 1)
			if m.err != "" {
				t.Fatal(m.err)
			}
			v := history.Check(m.records, history.Options{OneClock: true, Refusals: true})
			if err := v.Err(); err != nil {
				t.Fatal(err)
			}
			if v.Summary.Delivered+v.Summary.Rejected != v.Summary.Posted || v.Summary.Posted < 1000 {
				t.Errorf("%+v", v.Summary)
			}
			// 45 s of traffic is more than a queue holds: what finds it full is refused when it is posted.
			for _, r := range m.records {
				if r.Outcome == history.OutcomeRejected && (r.Reason != "too-many" || !sc.overflows) {
					t.Fatalf("message %s is rejected: %s", r.Message, r.Reason)
				}
			}
			gap := max(m.gap[0], m.gap[1])
			if gap > sc.limit {
				t.Errorf("longest gap %d ms, limit %d", gap, sc.limit)
			}
			t.Logf("longest gap %d ms (limit %d), %d messages, direct %.0f %%, frames %v", gap, sc.limit, v.Summary.Delivered, 100*v.Summary.Share["direct"], m.frames)
		})
	}
}

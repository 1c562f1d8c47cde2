package session

import (
	"fmt"
	"maps"
	"testing"

	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/random"
	"github.com/hyroute/hyroute/runtime/snapshot"
)

// modelSave is what a side stores: its table, and with it what its body and its application know.
type modelSave struct {
	table        []byte
	messages     map[uint64]modelMessage
	posted, open uint64
	app          *modelApp
}

// modelBounds say what may happen in a world of lives.
type modelBounds struct {
	clean bool // restores from a save made at that very moment
	lose  bool // starts without state
	stale bool // restores from an old save
	twin  bool // side 0 may be restored while it lives on
	slow  bool // a start or restore may draw an earlier clock than the one before
}

// lives is a walk whose sides are stored, lost, restored and doubled. Its judge is the one of the checked model of session.md: it
// compares what the applications saw, each as far as it remembers.
type lives struct {
	*walk
	bounds  modelBounds
	apps    [2]*modelApp
	saves   [2]*modelSave
	twin    *modelEnd       // the elder of two living sides 0; nobody judges its application
	shared  map[string]bool // messages that both of them have, once the elder has started over on its own: a limit, see checkIn
	laneOf  map[string]string
	ever    map[string]bool // was handed to some state of its receiver
	tomb    map[string]bool // was rejected in some time line
	stale   [2]bool
	lost    [2]bool
	slowOf  [2]bool
	unsafe  bool
	crashes int
	names   [2]int // lives drawn by a side
}

func newLives(seed uint64, b modelBounds) *lives {
	w := &lives{walk: emptyWalk(seed), bounds: b, laneOf: map[string]string{}, ever: map[string]bool{}, tomb: map[string]bool{}}
	for i := range w.apps {
		w.apps[i] = &modelApp{stat: map[string]modelStatus{}}
	}
	w.watch = w.see
	w.begin()
	return w
}

// save is the state of a side as it is now. What its listeners have in hand is as good as not handed over.
func (w *lives) save(e *modelEnd) *modelSave {
	c := snapshot.Writer()
	e.table.Snapshot(c)
	s := &modelSave{table: c.Bytes(), messages: maps.Clone(e.messages), posted: e.posted, open: uint64(e.open), app: w.apps[e.side].clone()}
	for _, r := range e.receipts {
		for n := range s.app.log {
			if x := &s.app.log[n]; x.kind == 'm' && x.name == r.name {
				x.open = true
			}
		}
	}
	return s
}

// restore makes a side from a save, as a new life.
func (w *lives) restore(e *modelEnd, s *modelSave) {
	w.names[e.side]++
	e.life = w.names[e.side]
	wall := w.clockOf(e)
	e.table = New(e.url, wall, random.New(w.r.Uint64()), w.numbers())
	c := snapshot.Reader(s.table)
	e.table.Snapshot(c)
	if err := c.Err(); err != nil {
		w.fail("a snapshot of side %d can not be read: %v", e.side, err)
		return
	}
	e.messages, e.posted, e.open = maps.Clone(s.messages), s.posted, int(s.open)
	e.held, e.receipts, e.frames = map[uint64]map[uint64]modelSlice{}, nil, nil
	w.apps[e.side] = s.app.clone()
	e.table.Advance(w.now)
	e.table.Restored(wall, func(stub uint64) uint64 { return stub })
	e.run()
	e.relayOpened()
}

// clockOf is the wall clock for a new life.
func (w *lives) clockOf(e *modelEnd) uint64 {
	wall := w.wall()
	if w.bounds.slow && !w.slowOf[e.side] && w.r.IntN(4) == 0 {
		w.slowOf[e.side] = true
		wall -= 3_600_000
		w.say("the clock of %d went back an hour", e.side)
	}
	return wall
}

// happen does one thing to a life.
func (w *lives) happen() {
	e := w.ends[w.r.IntN(2)]
	i := e.side
	b := w.bounds
	switch p := w.r.IntN(10); {
	case p < 4 && (b.stale || b.twin):
		w.say("%d saves", i)
		w.saves[i] = w.save(e)
	case (p < 6 || p < 9 && b.stale) && mostContinued(e.table) == frame.MaxContinues:
		// One restore more, and the stream starts over: TestNinthRestore.
	case p < 6 && b.clean:
		w.say("%d restores what it had", i)
		w.crashes++
		w.now += uint64(w.r.IntN(3000))
		w.restore(e, w.save(e))
	case p < 7 && b.lose:
		w.say("%d starts without state", i)
		w.crashes++
		w.unsafe, w.lost[i] = true, true
		w.now += uint64(20 + w.r.IntN(2000))
		w.names[i]++
		e.life = w.names[i]
		w.apps[i] = &modelApp{log: []modelSeen{{kind: 'g'}, {kind: 'g', lane: "l"}}, stat: map[string]modelStatus{}}
		e.start(w.clockOf(e))
		e.relayOpened()
	case p < 9 && b.stale && w.saves[i] != nil:
		w.say("%d restores its old save", i)
		w.crashes++
		w.unsafe, w.stale[i] = true, true
		w.now += uint64(w.r.IntN(3000))
		w.restore(e, w.saves[i])
	case b.twin && w.twin == nil && w.saves[0] != nil:
		w.say("0 restores its save, and lives on as well")
		w.crashes++
		w.unsafe, w.stale[0] = true, true
		elder := *w.ends[0]
		w.twin = &elder
		w.names[0]++
		younger := newModelEnd(w.walk, 0)
		w.ends[0] = younger
		w.restore(younger, w.saves[0])
	}
}

// twinActs lets the elder of two living sides go on under the same name.
func (w *lives) twinActs() {
	t := w.twin
	switch bag := &w.bags[0]; w.r.IntN(5) {
	case 0:
		t.post(1+w.r.IntN(2000), 30_000, "", 0)
	case 1, 2:
		if len(*bag) > 0 {
			w.take(t, w.r.IntN(len(*bag)))
		}
	case 3:
		if len(t.receipts) > 0 {
			r := t.receipts[0]
			t.receipts = t.receipts[1:]
			t.answer(r)
		}
	default:
		if t.wake != 0 && t.wake <= w.now {
			t.tick()
		}
	}
}

func (w *lives) step() {
	switch p := w.r.IntN(100); {
	case p < 5:
		w.happen()
	case p < 25 && w.twin != nil:
		w.twinActs()
	default:
		w.walk.step(false)
	}
}

// superseded says whether a session gave up because of a twin.
func (w *lives) superseded() bool {
	for _, e := range w.ends {
		for _, s := range e.table.sessions.Values() {
			if s.over {
				return true
			}
		}
	}
	return false
}

// finish ends the faults: everything must settle, and both sides come to know each other.
func (w *lives) finish(t *testing.T, seed uint64) {
	t.Helper()
	elder := w.twin != nil
	if w.err == "" {
		w.drain()
	}
	over := w.superseded()
	if over && !elder && w.crashes <= 5 { // each life that a slow clock puts above the present one costs a reset when one of its frames comes
		w.fail("superseded, and there was never a twin")
	}
	if w.err == "" && !over {
		w.probe()
	}
	for i, e := range w.ends {
		if w.err == "" && !over && e.heldBytes() > 0 {
			w.fail("side %d: %d bytes are still held", i, e.heldBytes())
		}
		for _, s := range inSessions(e.table) {
			if w.err == "" && !over && s.next > 1 && (s.long() || s.base != s.next-1 || len(s.known) > 0) {
				w.fail("settles: side %d, lane %q: knows %v, base %d, next %d, remembers %d", i, s.key.Lane, s.knows, s.base, s.next, len(s.known))
			}
		}
	}
	if w.err != "" {
		for i, e := range w.ends {
			for _, s := range inSessions(e.table) {
				t.Logf("side %d, lane %q: inc %x continues %x knows %v hello %v, base %d next %d seen %d, queue %d old %d part %v, pinc %x, rinc %x rseen %d done %d, known %v owed %v open %+v buffer %d (%d)",
					i, s.key.Lane, s.inc, s.continues, s.knows, s.hello, s.base, s.next, s.seen, s.queue.len(), s.old, s.part != nil, s.pinc, s.rinc, s.rseen, s.done(), s.known, s.owed.list(), s.open, s.buffer.count, s.bufferCost)
			}
		}
	}
	w.report(t, seed)
}

// mostContinued is how many lives the longest list of a table names that no peer has heard of.
func mostContinued(t *Table) int {
	n := 0
	for _, s := range inSessions(t) {
		n = max(n, len(s.continues))
	}
	return n
}

func inSessions(t *Table) (all []*Session) {
	for _, p := range t.inOrder() {
		all = append(all, p.sessions...)
	}
	return all
}

func walkLives(t *testing.T, offset uint64, b modelBounds) {
	t.Helper()
	n := *walks
	if testing.Short() {
		n = min(n, 150)
	}
	first := *firstWalk + offset
	handed, crashes, told := 0, 0, 0
	for seed := first; seed < first+n; seed++ {
		w := newLives(seed, b)
		for step := 0; step < 250 && w.err == ""; step++ {
			w.step()
		}
		w.finish(t, seed)
		handed += len(w.ever)
		crashes += w.crashes
		for _, a := range w.apps {
			for _, s := range a.log {
				if s.kind == 'r' || s.kind == 'g' {
					told++
				}
			}
		}
	}
	what := fmt.Sprintf("%d walks: %d messages handed over, %d crashes, %d resets and gaps remembered", n, handed, crashes, told)
	t.Log(what)
	if handed < int(n)*3 || crashes < int(n)/2 || told == 0 && (b.lose || b.stale || b.twin) {
		t.Error("too little happened: ", what)
	}
}

// TestModelTrueSaves restores what was there: nobody may notice.
func TestModelTrueSaves(t *testing.T) { walkLives(t, 2_000_000, modelBounds{clean: true}) }

// TestModelTrueSavesClockBack does so with clocks that go back.
func TestModelTrueSavesClockBack(t *testing.T) {
	walkLives(t, 3_000_000, modelBounds{clean: true, slow: true})
}

// TestModelStaleSaves restores old saves, true ones and nothing, as it comes.
func TestModelStaleSaves(t *testing.T) {
	walkLives(t, 4_000_000, modelBounds{clean: true, stale: true, lose: true})
}

// TestModelLossesClockBack starts without state, with clocks that go back.
func TestModelLossesClockBack(t *testing.T) {
	walkLives(t, 5_000_000, modelBounds{clean: true, lose: true, slow: true})
}

// TestModelTwins has two living lives of one state.
func TestModelTwins(t *testing.T) {
	walkLives(t, 6_000_000, modelBounds{clean: true, stale: true, twin: true})
}

// TestNinthRestore: a hello names eight lives at most. Who is restored once more before the peer heard of any starts over, and says so.
func TestNinthRestore(t *testing.T) {
	w := newLives(1, modelBounds{})
	e := w.ends[0]
	e.post(100, 30_000, "", 0)
	for range frame.MaxContinues {
		w.restore(e, w.save(e))
	}
	if n := mostContinued(e.table); n != frame.MaxContinues || e.open != 1 {
		t.Fatalf("after %d restores %d lives are continued, and %d messages are open", frame.MaxContinues, n, e.open)
	}
	w.unsafe, w.crashes = true, frame.MaxContinues+1
	w.restore(e, w.save(e))
	if n := mostContinued(e.table); n != 0 || e.open != 0 {
		t.Fatalf("after one restore more %d lives are continued, and %d messages are open", n, e.open)
	}
	w.finish(t, 1)
	if last := w.apps[0].log; last[1].kind != 'r' {
		t.Errorf("the application saw %v", last)
	}
}

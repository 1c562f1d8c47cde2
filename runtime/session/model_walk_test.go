package session

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/scenarios/history"
)

var (
	walks     = flag.Uint64("walks", 1500, "how many worlds each of the walking tests goes through")
	firstWalk = flag.Uint64("first-walk", 0, "the seed of the first one")
)

// walk is a world in which carriers are bags: whatever is on its way may arrive in any order, at any time, twice or never.
// Nothing that the session promises may depend on more (session.md part 3).
type walk struct {
	r       *rand.Rand
	now     uint64
	clock   uint64 // wall clock at time 0
	ends    [2]*modelEnd
	bags    [2][]modelLetter // on the way to that side
	chans   int
	records []history.Record
	err     string
	quiet   bool
	trace   []string
	small   bool // small numbers, so that limits are met
	slow    bool // a clock went back once
	watch   func(e *modelEnd, r history.Record)
}

// numbers are the defaults, or so small that windows, queues and tables of flows are always full.
func (w *walk) numbers() Numbers {
	n := DefaultNumbers()
	if w.small {
		n.Window, n.Chunk, n.Whole, n.Frame, n.Turn = 20_000, 1000, 2500, 4<<10, 6000
		n.QueueLength, n.QueueBytes, n.Largest, n.Flows = 12, 100_000, 100_000, 3
	}
	return n
}

func (w *walk) time() uint64 { return w.now }
func (w *walk) wall() uint64 { return w.clock + w.now }
func (w *walk) send(from *modelEnd, l modelLetter) {
	w.bags[1-from.side] = append(w.bags[1-from.side], l)
}
func (w *walk) log(e *modelEnd, r history.Record) {
	r.At = w.now
	w.records = append(w.records, r)
	if w.watch != nil {
		w.watch(e, r)
	}
}
func (w *walk) closeChannel(*modelEnd, uint64)  {}
func (w *walk) arrived(*modelEnd, modelReceipt) {}
func (w *walk) refuses() bool                   { return !w.quiet && w.r.IntN(12) == 0 }
func (w *walk) fail(format string, args ...any) {
	if w.err == "" {
		w.err = fmt.Sprintf(format, args...)
	}
}

func newWalk(seed uint64) *walk {
	w := emptyWalk(seed)
	w.begin()
	return w
}

func emptyWalk(seed uint64) *walk {
	return &walk{r: rand.New(rand.NewPCG(seed, 3)), now: 1000, clock: 1_790_000_000_000, small: seed%2 == 1}
}

func (w *walk) begin() {
	for i := range w.ends {
		w.ends[i] = newModelEnd(w, i)
	}
	for _, e := range w.ends {
		e.relayOpened()
	}
}

// say notes what is done, for a failing walk.
func (w *walk) say(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%6d ", w.now)+fmt.Sprintf(format, args...))
}

// step does one thing by chance. crashes says whether sides may lose their memory.
func (w *walk) step(crashes bool) {
	e := w.ends[w.r.IntN(2)]
	bag := &w.bags[e.side]
	switch p := w.r.IntN(100); {
	case p < 14:
		size := 1 + w.r.IntN(300)
		if w.r.IntN(5) == 0 {
			size = 10_000 + w.r.IntN(40_000)
		}
		if w.r.IntN(30) == 0 {
			size = 100_000 + w.r.IntN(300_000)
		}
		deadline := uint64(30_000)
		if w.r.IntN(4) == 0 {
			deadline = uint64(20 + w.r.IntN(4000))
		}
		lane := ""
		if w.r.IntN(6) == 0 {
			lane = "l"
		}
		w.say("%d posts %d bytes for %d ms, lane %q", e.side, size, deadline, lane)
		e.post(size, deadline, lane, w.r.IntN(4))
	case p < 60:
		if len(*bag) > 0 {
			w.take(e, w.r.IntN(len(*bag)))
		}
	case p < 66:
		if len(*bag) > 0 {
			k := w.r.IntN(len(*bag))
			w.say("lost on the way to %d: %d of %d", e.side, k, len(*bag))
			*bag = append((*bag)[:k:k], (*bag)[k+1:]...)
		}
	case p < 69:
		if len(*bag) > 0 {
			k := w.r.IntN(len(*bag))
			w.say("repeated on the way to %d: %d of %d", e.side, k, len(*bag))
			*bag = append(*bag, (*bag)[k])
		}
	case p < 79:
		if len(e.receipts) > 0 {
			k := w.r.IntN(len(e.receipts))
			r := e.receipts[k]
			e.receipts = append(e.receipts[:k:k], e.receipts[k+1:]...)
			w.say("%d takes %d (refuses: %v)", e.side, r.End, r.refuse)
			e.answer(r)
		}
	case p < 90:
		next := w.ends[0].wake
		if o := w.ends[1].wake; next == 0 || o != 0 && o < next {
			next = o
		}
		if next > w.now {
			w.now = next
		}
		w.ticks()
	case p < 93:
		w.now += uint64(w.r.IntN(300))
		w.ticks()
	case p < 95:
		stub := uint64(modelRelay)
		if w.chans > 0 && w.r.IntN(2) == 0 {
			stub = uint64(modelChannel + 1 + w.r.IntN(w.chans))
		}
		w.block(e, stub, w.r.IntN(2) == 0)
	case p < 96:
		if w.r.IntN(3) == 0 {
			w.say("relay of %d gone", e.side)
			e.table.Advance(w.now)
			e.table.RelayGone(modelRelay)
			e.run()
			break
		}
		w.say("relay of %d anew", e.side)
		e.relayOpened()
	case p < 97:
		w.chans++
		stub := uint64(modelChannel + w.chans)
		w.say("channel %d opens", stub)
		for _, x := range w.ends {
			x.table.Advance(w.now)
			x.table.ChannelOpened(x.peer, modelRelay, stub)
			x.run()
		}
	case p < 98:
		if w.chans > 0 {
			stub := uint64(modelChannel + 1 + w.r.IntN(w.chans))
			w.say("channel %d of %d is gone", stub, e.side)
			e.table.Advance(w.now)
			e.table.ChannelGone(stub, "closed")
			e.run()
		}
	case p < 99:
		w.say("notice to %d", e.side)
		e.table.Advance(w.now)
		e.table.Notice(modelRelay, 1, uint64(1+3*w.r.IntN(2)))
		e.run()
	default:
		if crashes {
			w.crash(e)
		}
	}
}

func (w *walk) block(e *modelEnd, stub uint64, blocked bool) {
	w.say("stub %d of %d: blocked %v", stub, e.side, blocked)
	e.table.Advance(w.now)
	e.table.Blocked(stub, blocked)
	e.run()
}

func (w *walk) take(e *modelEnd, k int) {
	l := w.bags[e.side][k]
	w.bags[e.side] = append(w.bags[e.side][:k:k], w.bags[e.side][k+1:]...)
	w.say("%d gets %d bytes, stub %d: %x", e.side, l.size(), l.stub, l.head)
	e.receive(l)
}

func (w *walk) ticks() {
	for _, e := range w.ends {
		if e.wake != 0 && e.wake <= w.now {
			w.say("%d wakes", e.side)
			e.tick()
		}
	}
}

// crash makes a side start without its memory; its frames stay on their way.
func (w *walk) crash(e *modelEnd) {
	w.say("%d starts without state", e.side)
	w.now += uint64(20 + w.r.IntN(2000))
	e.life++
	wall := w.wall()
	if !w.slow && w.r.IntN(10) == 0 {
		w.slow = true
		wall -= 3_600_000
		w.say("with a clock that went back an hour")
	}
	e.start(wall)
	e.relayOpened()
}

// drain lets the ends talk without faults until all is settled.
func (w *walk) drain() {
	w.say("quiet")
	w.quiet = true
	for _, e := range w.ends {
		for stub := range w.chans + 1 {
			w.block(e, uint64(modelChannel+stub), false)
		}
		e.relayOpened()
	}
	for round := 0; round < 4000 && w.err == ""; round++ {
		for i, e := range w.ends {
			for len(w.bags[i]) > 0 && w.err == "" {
				w.take(e, 0)
			}
			rs := e.receipts
			e.receipts = nil
			for _, r := range rs {
				e.answer(r)
			}
		}
		if len(w.bags[0])+len(w.bags[1]) > 0 {
			continue
		}
		next := w.ends[0].wake
		if o := w.ends[1].wake; next == 0 || o != 0 && o < next {
			next = o
		}
		if next == 0 {
			break
		}
		w.now = max(w.now, next)
		w.ticks()
	}
	for i, e := range w.ends {
		if e.open > 0 {
			w.fail("side %d: %d messages are not settled after the quiet rounds", i, e.open)
		}
	}
}

// probe posts more messages each way and in each lane: they must be delivered, for nothing is wrong any more. The first
// one of a lane may still be what tells its sender that the peer lost its memory.
func (w *walk) probe() {
	from := 0
	for range 2 {
		from = len(w.records)
		for _, e := range w.ends {
			e.post(100, 30_000, "", 0)
			e.post(100, 30_000, "l", 0)
		}
		w.drain()
	}
	for _, r := range w.records[from:] {
		if r.Kind == history.Settled && r.Outcome != history.OutcomeDelivered {
			w.fail("in a quiet world, message %s ends as %s %s", r.Message, r.Outcome, r.Reason)
		}
	}
}

func (w *walk) judge(t *testing.T, seed uint64) {
	t.Helper()
	if w.err == "" {
		v := history.Check(w.records, history.Options{OneClock: true, Zombies: true, Refusals: true})
		for _, f := range v.Violations {
			if !w.slow || !clockBack(f) {
				w.fail("%s", f)
			}
		}
	}
	for i, e := range w.ends {
		if w.err == "" && e.heldBytes() > 0 {
			w.fail("side %d: %d bytes are still held", i, e.heldBytes())
		}
	}
	w.report(t, seed)
}

func (w *walk) report(t *testing.T, seed uint64) {
	t.Helper()
	if w.err != "" {
		tail := w.trace
		if len(tail) > 60 {
			tail = tail[len(tail)-60:]
		}
		for _, l := range tail {
			t.Log(l)
		}
		for i, r := range w.records {
			t.Logf("%d: %d %s %s %s %s %s lane %q session %d maybe %v", i, r.At, r.End, r.Kind, r.Message, r.Outcome, r.Reason, r.Lane, r.Session, r.Maybe)
		}
		t.Fatalf("seed %d: %s", seed, w.err)
	}
}

// clockBack says whether a life whose clock went back can be the cause: it may cost one reset more, and to its peer it is older
// than the life before it, whose late frames are then followed (after a gap).
func clockBack(f history.Violation) bool {
	return f.Rule == history.Unpaid || f.Rule == history.OutOfOrder && strings.Contains(f.Text, "life of its sender that ended")
}

// TestModelCarriersAreBags walks at random: no loss of memory, so there is nothing that may excuse a reset, a gap or a loss.
func TestModelCarriersAreBags(t *testing.T) {
	n := *walks
	if testing.Short() {
		n = min(n, 150)
	}
	delivered := 0
	for seed := *firstWalk; seed < *firstWalk+n; seed++ {
		w := newWalk(seed)
		for step := 0; step < 250 && w.err == ""; step++ {
			w.step(false)
		}
		w.drain()
		w.probe()
		w.judge(t, seed)
		delivered += history.Check(w.records, history.Options{OneClock: true}).Summary.Delivered
	}
	if delivered < int(n)*5 {
		t.Errorf("only %d messages were delivered in %d walks", delivered, n)
	}
}

// TestModelLossesOfMemory walks with sides that now and then start without state.
func TestModelLossesOfMemory(t *testing.T) {
	n := *walks
	if testing.Short() {
		n = min(n, 150)
	}
	for seed := *firstWalk + 1_000_000; seed < *firstWalk+1_000_000+n; seed++ {
		w := newWalk(seed)
		for step := 0; step < 250 && w.err == ""; step++ {
			w.step(true)
		}
		w.drain()
		w.probe()
		w.judge(t, seed)
	}
}

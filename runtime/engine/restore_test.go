package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

var mangles = flag.Int("mangles", 3000, "how many states TestMangledStates mangles")

// reborn is a machine that begins a new life from the state of e, and the effects of its first Step.
func reborn(t testing.TB, e *Engine, now Instant, r *Restored, events ...Event) (*Engine, []Effect) {
	t.Helper()
	again, err := Restore(e.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	return again, again.Step(now, append([]Event{r}, events...)...)
}

func find[E Effect](effects []Effect) (found []E) {
	for _, f := range effects {
		if e, ok := f.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func started(t testing.TB) *Engine {
	t.Helper()
	e, _, err := New(Config{Runtime: self, Wall: 1_700_000_000_000, Seed: 7, Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	e.Step(1, &StubChanged{Stub: 1, Status: StatusLive}, &EndpointRegistered{Address: here}, &EndpointRegistered{Address: there})
	return e
}

func TestANewLifeHandsLocalMessagesOverAgain(t *testing.T) {
	e := started(t)
	e.Step(10, &MessagePosted{Msg: 1, From: here, To: there, Size: 3, Deadline: 5000}, &MessagePosted{Msg: 2, From: here, To: there, Size: 3, Deadline: 9000},
		&MessagePosted{Msg: 3, From: there, To: here, Size: 3, Deadline: 4000})
	e, effects := reborn(t, e, 1000, &Restored{Wall: 1_700_000_001_000, Seed: 9})
	if d := find[*Deliver](effects); len(d) > 0 {
		t.Fatalf("%+v is delivered, and nobody listens", d[0])
	}
	effects = e.Step(2000, &EndpointRegistered{Address: there})
	given := find[*Deliver](effects)
	if len(given) != 2 || given[0].Msg != 1 || given[1].Msg != 2 || given[0].Path != "local" || given[0].Delivery <= 3 {
		t.Fatalf("handed over again: %+v", given)
	}
	effects = e.Step(2001, &DeliveryTaken{Delivery: given[0].Delivery}, &DeliveryTaken{Delivery: 1})
	if s := find[*Settle](effects); len(s) != 1 || s[0].Msg != 1 || s[0].Outcome != "delivered" {
		t.Fatalf("settled: %+v", s)
	}
	for _, want := range []struct {
		at  Instant
		msg uint64
	}{{4010, 3}, {9010, 2}} { // nobody listens for one, and the other is not taken
		s := find[*Settle](e.Step(want.at, &TimePassed{}))
		if len(s) != 1 || s[0].Msg != want.msg || s[0].Reason != "expired" || !s[0].Maybe {
			t.Fatalf("at %d: %+v", want.at, s)
		}
	}
}

func TestANewLifeGoesOnWithWhatWaits(t *testing.T) {
	e := started(t)
	away := address.MustParse("hyperty://d/away")
	e.Step(10, &MessagePosted{Msg: 1, From: here, To: away, Size: 3, Deadline: 60_000}, &MessagePosted{Msg: 2, From: here, To: address.MustParse("domain://registry.d"), Size: 3, Answer: 20_000})
	e, effects := reborn(t, e, 1000, &Restored{Wall: 1_700_000_001_000, Seed: 9})
	stubs := find[*DeployNodeStub](effects)
	if len(stubs) != 1 || stubs[0].Stub == 1 {
		t.Fatalf("stubs deployed: %+v", stubs)
	}
	if w := find[*Wake](effects); len(w) != 1 || w[0].At != 20_010 {
		t.Fatalf("the timer is named anew: %+v", w)
	}
	effects = e.Step(1100, &StubChanged{Stub: stubs[0].Stub, Status: StatusLive})
	asked := find[*QueryRegistry](effects)
	if len(asked) != 1 || asked[0].Resource != away {
		t.Fatalf("asked: %+v", effects)
	}
	// Its sender had been asked who it is; that it does not listen yet is no reason to refuse it.
	effects = e.Step(1200, &RegistryAnswered{Job: asked[0].Job, Code: 200, Runtime: other, Sessions: true})
	if sent := find[*Transmit](effects); len(sent) != 1 || len(sent[0].Parts) != 1 || sent[0].Parts[0].Msg != 1 {
		t.Fatalf("sent: %+v", effects)
	}
	if g := find[*GiveUpAnswer](e.Step(20_010, &TimePassed{})); len(g) != 1 || g[0].Msg != 2 {
		t.Fatalf("the answer's timer: %+v", g)
	}
}

func TestANewLifeAfterClosing(t *testing.T) {
	e := started(t)
	e.Step(10, &Closing{})
	e, effects := reborn(t, e, 1000, &Restored{Wall: 1_700_000_001_000, Seed: 9}, &EndpointRegistered{Address: here})
	if len(find[*DeployNodeStub](effects)) != 1 {
		t.Fatalf("%+v", effects)
	}
	if d := find[*Deliver](e.Step(1100, &MessagePosted{Msg: 1, From: here, To: here, Size: 1})); len(d) != 1 {
		t.Fatal("it does nothing")
	}
}

// TestLivesOfOneStateHaveNamesOfTheirOwn: two lives that begin from one state must not be taken for one, not even if both have a clock
// from before the state.
func TestLivesOfOneStateHaveNamesOfTheirOwn(t *testing.T) {
	e := started(t)
	e.Step(10, &HandleNamed{Stub: 1, Handle: 1, Runtime: other}, &MessagePosted{Msg: 1, From: here, To: other, Size: 3})
	for _, wall := range []uint64{1_700_000_001_000, 1_699_996_400_000, 0} {
		named := map[uint64]uint64{}
		for seed := range uint64(50) {
			again, effects := reborn(t, e, 1000, &Restored{Wall: wall, Seed: seed + 1})
			stub := find[*DeployNodeStub](effects)[0].Stub
			sent := find[*Transmit](again.Step(1010, &StubChanged{Stub: stub, Status: StatusLive}))
			h, err := frame.Read(sent[0].Head, 3)
			if err != nil || !h.Long || len(h.Hello.Continues) != 1 || h.Hello.Src <= h.Hello.Continues[0].Inc {
				t.Fatalf("wall %d: %+v %v", wall, h, err)
			}
			if before, twice := named[h.Hello.Src]; twice && wall < 1_700_000_001_000 {
				t.Errorf("wall %d: seeds %d and %d draw one incarnation", wall, before, seed)
			}
			named[h.Hello.Src] = seed
		}
	}
}

// crowd is a machine that knows so many peers, each with some traffic behind it.
func crowd(t testing.TB, peers int) *Engine {
	e := started(t)
	for i := range uint64(peers) {
		peer := address.MustParse(fmt.Sprintf("runtime://d/peer%d", i))
		h := frame.Header{
			Long: true, Hello: frame.Hello{Src: 1<<40 + i, Set: 3, Window: 1 << 20, Largest: 1 << 24},
			First:  1,
			Chunks: []frame.Chunk{{Flags: frame.Def, From: peer.String(), To: here.String()}, {Flags: frame.Begin | frame.End, Length: 100}},
		}
		head, err := h.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		handle := i%4000 + 1
		effects := e.Step(Instant(10+i), &HandleNamed{Stub: 1, Handle: handle, Runtime: peer},
			&FrameReceived{Stub: 1, Handle: handle, Frame: i + 1, Head: head, Size: 100}, &MessagePosted{Msg: i + 1, From: here, To: peer, Size: 100})
		for _, d := range find[*Deliver](effects) {
			e.Step(Instant(10+i), &DeliveryTaken{Delivery: d.Delivery})
		}
	}
	return e
}

// BenchmarkSnapshot is what a save costs, by sessions.
func BenchmarkSnapshot(b *testing.B) {
	for _, peers := range []int{1, 100, 1000} {
		e := crowd(b, peers)
		b.Run(fmt.Sprintf("sessions=%d", peers), func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = len(e.Snapshot())
			}
			b.ReportMetric(float64(size), "B")
		})
		b.Run(fmt.Sprintf("sessions=%d/restore", peers), func(b *testing.B) {
			saved := e.Snapshot()
			for b.Loop() {
				reborn, err := Restore(saved)
				if err != nil {
					b.Fatal(err)
				}
				reborn.Step(Instant(10_000), &Restored{Wall: 1_700_000_010_000, Seed: 3})
			}
		})
	}
}

func TestADamagedSnapshotIsRefused(t *testing.T) {
	saved := crowd(t, 3).Snapshot()
	for i := range saved {
		bad := append([]byte(nil), saved...)
		bad[i] ^= 1 << (i % 8)
		if _, err := Restore(bad); err == nil {
			t.Fatalf("byte %d of %d was changed, and nobody saw it", i, len(saved))
		}
	}
	if _, err := Restore(saved[:len(saved)-1]); err == nil {
		t.Error("it was cut short, and nobody saw it")
	}
}

// FuzzRestore mangles snapshots behind their check sum: what is read all the same must not make a Step fail.
func FuzzRestore(f *testing.F) {
	for n := range 4 {
		f.Add(crowd(f, n).Snapshot(), uint64(n))
	}
	for seed := range uint64(6) {
		steps := 0
		play(f, seed, func(e *Engine, _ Instant, _ []Event, _ []Effect) {
			if steps++; steps == 150 {
				f.Add(e.Snapshot(), seed)
			}
		})
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		if len(b) < 8 {
			return
		}
		e, err := restore(b[:len(b)-8])
		if err != nil {
			return
		}
		now := Instant(e.now)
		effects := e.Step(now, &Restored{Wall: 1_700_000_000_000, Seed: seed}, &EndpointRegistered{Address: here})
		for _, d := range find[*DeployNodeStub](effects) {
			e.Step(now+1, &StubChanged{Stub: d.Stub, Status: StatusLive}, &HandleNamed{Stub: d.Stub, Handle: 1, Runtime: other})
		}
		for i := range Instant(20) {
			e.Step(now+1000*i, &TimePassed{})
		}
		if _, err := Restore(e.Snapshot()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestMangledStates changes bytes of states behind their check sum: whatever is read all the same must not break a Step.
func TestMangledStates(t *testing.T) {
	var states [][]byte
	add := func(e *Engine) {
		b := e.Snapshot()
		states = append(states, b[:len(b)-8])
	}
	for n := range 4 {
		add(crowd(t, n))
	}
	for seed := range uint64(10) {
		steps := 0
		play(t, seed, func(e *Engine, _ Instant, _ []Event, _ []Effect) {
			if steps++; steps%60 == 0 {
				add(e)
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	read := 0
	for n := range *mangles {
		b := append([]byte(nil), states[r.IntN(len(states))]...)
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = byte(r.Uint32N(256) >> r.Uint32N(8))
		}
		e, err := restore(b)
		if err != nil {
			continue
		}
		read++
		outlive(t, e, n)
	}
	t.Logf("%d of %d were read", read, *mangles)
	if read < *mangles/20 {
		t.Error("too few")
	}
}

func outlive(t *testing.T, e *Engine, n int) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("state %d: %v\n%s", n, p, debug.Stack())
		}
	}()
	now := Instant(e.now)
	effects := e.Step(now, &Restored{Wall: 1_700_000_000_000, Seed: uint64(n)}, &EndpointRegistered{Address: here})
	for _, d := range find[*DeployNodeStub](effects) {
		e.Step(now+1, &StubChanged{Stub: d.Stub, Status: StatusLive}, &HandleNamed{Stub: d.Stub, Handle: 1, Runtime: other})
	}
	for i := range Instant(20) {
		e.Step(now+1000*i, &TimePassed{})
	}
	e.Snapshot()
}

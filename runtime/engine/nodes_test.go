package engine

import "testing"

// A node that went away is mostly one that is started again: whoever was there is back two seconds after it, and only those
// of a node that stays away for long leave it alone for longer.
func TestANodeIsTriedOftenAtFirst(t *testing.T) {
	const seeds = 50
	longestSoon, longestLate := Instant(0), Instant(0)
	for seed := range uint64(seeds) {
		e, effects, _ := New(Config{Runtime: self, Seed: seed + 1})
		now := Instant(0)
		var wake Instant
		look := func(effects []Effect) (connects bool) {
			for _, x := range effects {
				switch x := x.(type) {
				case *Wake:
					wake = Instant(x.At)
				case *ConnectStub:
					connects = true
				}
			}
			return connects
		}
		look(effects)
		step := func(events ...Event) bool { return look(e.Step(now, events...)) }
		now = 1000
		step(&StubChanged{Stub: 1, Status: StatusLive})
		now += 60_000
		lost := now
		step(&StubChanged{Stub: 1, Status: StatusDisconnected})
		for now < lost+5*60_000 {
			before := now
			for now = wake; !step(&TimePassed{}); now = wake {
				if wake == 0 {
					t.Fatalf("seed %d: at %d ms nothing is waited for, and the node is away", seed, now)
				}
			}
			if pause := now - before; now < lost+30_000 {
				longestSoon = max(longestSoon, pause)
			} else if before > lost+30_000 {
				longestLate = max(longestLate, pause)
			}
			step(&StubChanged{Stub: 1, Status: StatusDisconnected})
		}
	}
	if longestSoon > 2001 || longestSoon < 1000 {
		t.Errorf("in the first half minute the longest pause was %d ms, not about 2000", longestSoon)
	}
	if longestLate > 20_001 || longestLate < 10_000 {
		t.Errorf("later the longest pause was %d ms, not about 20 000", longestLate)
	}
}

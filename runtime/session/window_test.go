package session

import (
	"math/rand/v2"
	"testing"

	"github.com/hyroute/hyroute/runtime/frame"
)

// TestWindow plays the same to a window and to a map: chunks arrive in any order within a range that moves up.
func TestWindow(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var w window
		want := map[uint64]frame.Chunk{}
		base := r.Uint64N(1 << 40)
		reach := uint64(1) << r.IntN(12)
		for range 4000 {
			if n := base + 1 + r.Uint64N(reach); r.IntN(3) > 0 {
				if _, have := want[n]; !have {
					k := frame.Chunk{Flags: frame.Begin | frame.End, Flow: r.Uint64N(5) << 10, Length: int(n)}
					switch r.IntN(10) {
					case 0:
						k = frame.Chunk{Flags: frame.Def, Flow: 3, From: "a", To: "b"}
					case 1:
						k = frame.Chunk{Flags: frame.Refuse, Inc: n, Number: 7, Code: 2}
					}
					w.put(base, n, &k, n%2 == 0)
					want[n] = k
				}
			}
			for k, have := want[base+1]; have && r.IntN(4) > 0; k, have = want[base+1] {
				base++
				a, here := w.get(base)
				if !here || w.chunk(base) != k || a.number != base || a.direct != (base%2 == 0) || a.length != k.Length || a.flags != k.Flags {
					t.Fatalf("chunk %d is %+v %+v, not %+v", base, a, w.chunk(base), k)
				}
				w.remove(base)
				delete(want, base)
			}
			n := base + 1 + r.Uint64N(4*reach)
			if _, have := want[n]; w.has(n) != have || w.count != len(want) {
				t.Fatalf("chunk %d: here is %v; %d are, not %d", n, w.has(n), w.count, len(want))
			}
		}
		if len(w.places) > max(16, 2*int(reach)) {
			t.Errorf("%d places for %d numbers", len(w.places), reach)
		}
		rare := 0
		for _, k := range want {
			if k.Flags&(frame.Def|frame.Refuse) != 0 {
				rare++
			}
		}
		if len(w.rare) != rare {
			t.Errorf("%d definitions and refusals, not %d", len(w.rare), rare)
		}
	}
	var w window
	w.put(0, 1, &frame.Chunk{Flow: 1 << 40}, false)
	if a, _ := w.get(1); a.flow != maxFlow {
		t.Error("a flow that can not be became one that can")
	}
}

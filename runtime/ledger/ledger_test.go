package ledger

import (
	"math/rand/v2"
	"testing"
)

// TestAsMap plays the same to a ledger and to a map, with numbers as they are given and with others.
func TestAsMap(t *testing.T) {
	patterns := map[string]func(*rand.Rand, uint64) uint64{
		"one after another":      func(_ *rand.Rand, i uint64) uint64 { return i + 1 },
		"many times the same":    func(r *rand.Rand, _ uint64) uint64 { return r.Uint64N(20) },
		"on one place":           func(r *rand.Rand, _ uint64) uint64 { return r.Uint64N(50) << 32 },
		"anything":               func(r *rand.Rand, _ uint64) uint64 { return r.Uint64() },
		"one and far stragglers": func(r *rand.Rand, i uint64) uint64 { return i + 1 + r.Uint64N(2)<<20 },
	}
	for name, number := range patterns {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var l Ledger[*uint64]
			m := map[uint64]*uint64{}
			var kept []uint64
			for i := range uint64(5000) {
				switch n := number(r, i); {
				case r.IntN(100) < 55:
					v := new(uint64)
					*v = n
					l.Put(n, v)
					if n != 0 {
						m[n] = v
						kept = append(kept, n)
					}
				case len(kept) > 0:
					// The oldest goes most often, as it does of messages.
					at := 0
					if r.IntN(4) == 0 {
						at = r.IntN(len(kept))
					}
					n = kept[at]
					kept = append(kept[:at], kept[at+1:]...)
					l.Remove(n)
					delete(m, n)
				default:
					l.Remove(n)
				}
				if l.Len() != len(m) {
					t.Fatalf("%d are kept, not %d", l.Len(), len(m))
				}
			}
			for _, n := range kept {
				if l.Get(n) != m[n] {
					t.Errorf("number %d is another value", n)
				}
				if l.Get(n+1<<40) != m[n+1<<40] || l.Get(0) != nil {
					t.Errorf("a number that was not put is found")
				}
			}
			seen := map[uint64]bool{}
			for _, v := range l.Values() {
				if seen[*v] || m[*v] != v {
					t.Errorf("%d stands twice among the values, or should be gone", *v)
				}
				seen[*v] = true
			}
			if len(seen) != len(m) {
				t.Errorf("%d values, not %d", len(seen), len(m))
			}
		})
	}
}

// TestPlaces sees to it that numbers one after another need no map, and that odd ones do not make the places many.
func TestPlaces(t *testing.T) {
	var l Ledger[*int]
	v := new(int)
	for n := uint64(1); n <= 100_000; n++ {
		l.Put(n, v)
		if n > 1000 {
			l.Remove(n - 1000)
		}
	}
	if len(l.rest) != 0 || len(l.places) != 1024 {
		t.Errorf("1000 numbers in a row stand in %d places and %d beside them", len(l.places), len(l.rest))
	}
	for n := range uint64(1000) {
		l.Put(n<<40, v)
	}
	if len(l.places) > 4096 {
		t.Errorf("%d places", len(l.places))
	}
	if n := testing.AllocsPerRun(100, func() {
		l.Remove(99_900)
		l.Put(99_900, v)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

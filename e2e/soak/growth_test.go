package soak

import "testing"

func TestWhatGrowsIsFound(t *testing.T) {
	rounds := func(n int, heap func(i int) uint64) (uses []Use) {
		for i := range n {
			uses = append(uses, Use{Heap: heap(i), Objects: 50_000, Goroutines: 1000, UDP: 60, Connections: seats})
		}
		return uses
	}
	noisy := []uint64{15e6, 21e6, 18e6, 14e6, 19e6}
	for name, row := range map[string]struct {
		uses []Use
		ok   bool
	}{
		"up and down":                      {rounds(24, func(i int) uint64 { return noisy[i%len(noisy)] }), true},
		"a leak":                           {rounds(24, func(i int) uint64 { return noisy[i%len(noisy)] + uint64(i)*1e6 }), false},
		"a warm-up":                        {rounds(24, func(i int) uint64 { return min(uint64(i)*5e6, 18e6) }), true},
		"few rounds, up and down":          {rounds(4, func(i int) uint64 { return noisy[i] }), true},
		"few rounds, it more than doubles": {rounds(4, func(i int) uint64 { return 15e6 << i }), false},
		"too few to say":                   {rounds(2, func(i int) uint64 { return 15e6 << (3 * i) }), true},
	} {
		if err := grows(row.uses); (err == nil) != row.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

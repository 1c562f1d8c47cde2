package host

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestShelf(t *testing.T) {
	var s shelf[uint64]
	put := map[uint64]*uint64{}
	source := rand.New(rand.NewPCG(1, 2))
	number := uint64(0)
	for range 10_000 {
		number += 1 + source.Uint64N(3)*source.Uint64N(60)
		n := number
		s.put(n, &n)
		put[n] = &n
		for old := range put { // in any order
			if source.Uint64N(2) == 0 {
				break
			}
			s.drop(old)
			s.drop(old) // nothing is there any more
			delete(put, old)
		}
		if got := s.get(n); got != put[n] {
			t.Fatalf("number %d: %v instead of %v", n, got, put[n])
		}
	}
	var want []uint64
	for n, thing := range put {
		if s.get(n) != thing {
			t.Fatalf("number %d is not there", n)
		}
		want = append(want, n)
	}
	slices.Sort(want)
	var got []uint64
	for _, thing := range s.all() {
		got = append(got, *thing)
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d things in order, not %d", len(got), len(want))
	}
	for _, n := range want {
		s.drop(n)
	}
	if len(s.boards) > 0 || s.get(want[0]) != nil {
		t.Error("an empty board is kept")
	}
}

package session

import (
	"slices"
	"testing"
)

func TestFifo(t *testing.T) {
	var f fifo[int]
	var want []int
	for i := range 3000 {
		if i%7 < 4 {
			f.add(i)
			want = append(want, i)
		} else if n := min(i%5, len(want)); n > 0 {
			f.drop(n)
			want = want[n:]
		}
		if i == 1500 {
			f.set(slices.Clone(want[1:]))
			want = want[1:]
		}
		if !slices.Equal(f.list(), want) || f.len() != len(want) {
			t.Fatalf("%d: %v, not %v", i, f.list(), want)
		}
	}
	f.drop(f.len())
	for i := range 100 {
		f.add(i)
	}
	if n := testing.AllocsPerRun(1000, func() {
		f.drop(1)
		f.add(1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if f.drop(f.len()); len(f.all) != 0 || slices.ContainsFunc(f.all[:cap(f.all)], func(x int) bool { return x != 0 }) {
		t.Error("what was taken off is still referenced")
	}
}

package order

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		a := make([]int, n)
		for i := range a {
			a[i] = r.IntN(1 + n/2)
		}
		want := slices.Clone(a)
		slices.Sort(want)
		Sort(n, func(i, j int) bool { return a[i] < a[j] }, func(i, j int) { a[i], a[j] = a[j], a[i] })
		if !slices.Equal(a, want) {
			t.Fatalf("%d things: %v, not %v", n, a, want)
		}
	}
}

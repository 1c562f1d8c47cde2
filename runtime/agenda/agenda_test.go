package agenda

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrder adds and removes at random, in order and out of it, and compares with a list that is sorted each time.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 50 {
		var a Agenda[uint64]
		var want [][2]uint64
		at := uint64(0)
		for id := range uint64(2000) {
			if r.IntN(3) == 0 && len(want) > 0 {
				slices.SortFunc(want, func(x, y [2]uint64) int { return slices.Compare(x[:], y[:]) })
				got, number, value, ok := a.First()
				if !ok || number != value || [2]uint64{got, value} != want[0] {
					t.Fatalf("round %d: %d %d %v, not %v", round, got, value, ok, want[0])
				}
				a.Remove()
				want = want[1:]
			}
			if at += uint64(r.IntN(2)); r.IntN(10) < round%4 {
				at = uint64(r.IntN(1000))
			}
			a.Add(at, id, id)
			want = append(want, [2]uint64{at, id})
			if a.Len() != len(want) {
				t.Fatalf("round %d: %d items, not %d", round, a.Len(), len(want))
			}
		}
	}
}

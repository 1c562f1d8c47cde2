package pool

import "testing"

func TestLend(t *testing.T) {
	var p Pool[*int]
	lend := func() *int {
		if x := p.Lend(); x != nil {
			return x
		}
		return p.Add(new(int))
	}
	for range 3 {
		var lent []*int
		for i := range 100 {
			x := lend()
			*x = i
			lent = append(lent, x)
		}
		for i, x := range lent {
			if *x != i {
				t.Fatalf("value %d was lent twice before Reset", i)
			}
		}
		p.Reset()
	}
	if n := testing.AllocsPerRun(10, func() {
		for range 100 {
			lend()
		}
		p.Reset()
	}); n != 0 {
		t.Errorf("%v allocations where all was lent before", n)
	}
}

package pool

import "testing"

func TestLend(t *testing.T) {
	p := Of(func() *int { return new(int) })
	for range 3 {
		var lent []*int
		for i := range 100 {
			x := p.Lend()
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
			p.Lend()
		}
		p.Reset()
	}); n != 0 {
		t.Errorf("%v allocations where all was lent before", n)
	}
}

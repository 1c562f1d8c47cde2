package pool

import "testing"

func TestSpare(t *testing.T) {
	var s Spare[*int]
	if s.Take() != nil {
		t.Error("a value came from nowhere")
	}
	for i := range spareMost + 1 {
		s.Give(&i)
	}
	seen := map[*int]bool{}
	for x := s.Take(); x != nil; x = s.Take() {
		if seen[x] {
			t.Fatal("a value was given twice")
		}
		seen[x] = true
	}
	if len(seen) != spareMost {
		t.Errorf("%d values were kept, at most %d should be", len(seen), spareMost)
	}
}

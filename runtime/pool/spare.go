package pool

// spareMost is how many values a Spare keeps.
const spareMost = 1024

// Spare keeps values that are over, to be used again. V is a pointer, as of a Pool. The zero value has none.
type Spare[V any] struct{ values []V }

// Take gives a value, with what whoever had it before left in it; nil if there is none.
//
//go:noinline
func (s *Spare[V]) Take() (v V) {
	if n := len(s.values); n > 0 {
		v = s.values[n-1]
		s.values = s.values[:n-1]
	}
	return v
}

// Give keeps a value that nobody uses any more.
//
//go:noinline
func (s *Spare[V]) Give(v V) {
	if len(s.values) < spareMost {
		s.values = append(s.values, v)
	}
}

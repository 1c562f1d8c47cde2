// Package pool lends values that live as long as one Step, and keeps those that are over: what comes with every message is not allocated.
package pool

// Pool lends values until they are all taken back. V is a pointer: the type of what it leads to would be compiled anew for each pool.
// The zero value has none to lend.
type Pool[V any] struct {
	values []V
	lent   int
}

// Lend gives a value that is good until Reset, with what whoever had it before left in it; nil if there is none, and Add is due.
//
//go:noinline
func (p *Pool[V]) Lend() (v V) {
	if p.lent < len(p.values) {
		v = p.values[p.lent]
		p.lent++
	}
	return v
}

// Add lends one more value, v.
//
//go:noinline
func (p *Pool[V]) Add(v V) V {
	p.values = append(p.values, v)
	p.lent++
	return v
}

// Reset takes all values back.
func (p *Pool[V]) Reset() { p.lent = 0 }

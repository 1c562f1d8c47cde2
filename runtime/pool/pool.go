// Package pool lends values that live as long as one Step: what comes with every message is not allocated.
package pool

// Pool lends values until they are all taken back. V is a pointer: the type of what it leads to would be compiled anew for each pool.
type Pool[V any] struct {
	fresh  func() V
	values []V
	lent   int
}

// Of makes a pool of what fresh makes.
func Of[V any](fresh func() V) Pool[V] { return Pool[V]{fresh: fresh} }

// Lend gives a value that is good until Reset. What it says is of whoever had it before.
//
//go:noinline
func (p *Pool[V]) Lend() V {
	if p.lent == len(p.values) {
		p.values = append(p.values, p.fresh())
	}
	p.lent++
	return p.values[p.lent-1]
}

// Reset takes all values back.
func (p *Pool[V]) Reset() { p.lent = 0 }

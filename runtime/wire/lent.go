package wire

// lent are values that are good until used is 0 again, so that what comes with every message is not allocated. P is a pointer: the
// code is the same for all of them, and stands in the module once.
type lent[P any] struct {
	all  []P
	used int
}

// next lends a value, which has in it what it had when it was lent before; nil if all are lent.
//
//go:noinline
func (l *lent[P]) next() (p P) {
	if l.used < len(l.all) {
		p = l.all[l.used]
		l.used++
	}
	return p
}

// add lends one that is new.
//
//go:noinline
func (l *lent[P]) add(p P) P {
	l.all = append(l.all, p)
	l.used++
	return p
}

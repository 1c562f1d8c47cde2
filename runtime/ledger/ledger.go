// Package ledger keeps things by numbers that are given one after another: messages, deliveries, sessions. Go's map would hash every
// number, which takes most of its time where there is no wide multiplication (WebAssembly), and its order must never be seen.
package ledger

// Ledger keeps values by their numbers, which are not 0. The zero value is empty. V is a pointer.
//
// A number has its place at its lowest bits, so those that follow each other never meet as long as no more are kept than there are
// places. One whose place is taken goes to a map: whatever numbers come, all are found.
type Ledger[V any] struct {
	places []place[V] // as many as a power of 2
	rest   map[uint64]V
	placed int
}

type place[V any] struct {
	number uint64 // 0: nothing is here
	value  V
}

// leastPlaces is how many places there are at first.
const leastPlaces = 16

// Len is how many values are kept.
func (l *Ledger[V]) Len() int { return l.placed + len(l.rest) }

func (l *Ledger[V]) at(number uint64) *place[V] { return &l.places[number&uint64(len(l.places)-1)] }

// Get is the value of a number, the zero value if there is none. What stands in many places is not inlined: it would be much of the
// module.
//
//go:noinline
func (l *Ledger[V]) Get(number uint64) (value V) {
	if len(l.places) > 0 {
		if p := l.at(number); p.number == number && number != 0 {
			return p.value
		}
	}
	if len(l.rest) > 0 {
		return l.rest[number]
	}
	return value
}

// Put keeps a value, in the place of the one that the number had before. The number 0 keeps nothing.
func (l *Ledger[V]) Put(number uint64, value V) {
	if number == 0 {
		return
	}
	if len(l.rest) > 0 {
		if _, have := l.rest[number]; have {
			l.rest[number] = value
			return
		}
	}
	if l.places == nil {
		l.places = make([]place[V], leastPlaces)
	}
	for {
		p := l.at(number)
		if p.number == 0 || p.number == number {
			if p.number == 0 {
				l.placed++
			}
			*p = place[V]{number, value}
			return
		}
		if 2*l.placed < len(l.places) {
			break // more places would help only if they were very many
		}
		l.grow()
	}
	if l.rest == nil {
		l.rest = map[uint64]V{}
	}
	l.rest[number] = value
}

// grow doubles the places. Numbers that did not meet before do not now.
//
//go:noinline
func (l *Ledger[V]) grow() {
	before := l.places
	l.places = make([]place[V], 2*len(before))
	for i := range before {
		if n := before[i].number; n != 0 {
			*l.at(n) = before[i]
		}
	}
}

// Remove forgets the value of a number.
//
//go:noinline
func (l *Ledger[V]) Remove(number uint64) {
	if len(l.places) > 0 {
		if p := l.at(number); p.number == number && number != 0 {
			*p = place[V]{}
			l.placed--
			return
		}
	}
	delete(l.rest, number)
}

// Values gives all values, in any order.
//
//go:noinline
func (l *Ledger[V]) Values() []V {
	all := make([]V, 0, l.Len())
	for i := range l.places {
		if l.places[i].number != 0 {
			all = append(all, l.places[i].value)
		}
	}
	for _, v := range l.rest {
		all = append(all, v)
	}
	return all
}

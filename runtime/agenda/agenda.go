// Package agenda keeps what is due when: a priority queue by time, with a number to break ties, so that its order never
// depends on how it was filled.
package agenda

// Agenda holds items with the time at which they are due. The zero value is empty. An item that is no longer wanted stays
// until its time, and is then for the owner to ignore: it compares the time it got with the one it remembers.
type Agenda[T any] struct{ items []item[T] }

type item[T any] struct {
	at, id uint64
	value  T
}

func (a item[T]) before(b item[T]) bool { return a.at < b.at || a.at == b.at && a.id < b.id }

// Len is the number of items, those no longer wanted included.
func (a *Agenda[T]) Len() int { return len(a.items) }

// Add notes that value is due at. Of two items due at the same time the one with the lower id comes first.
func (a *Agenda[T]) Add(at, id uint64, value T) {
	a.items = append(a.items, item[T]{at, id, value})
	i := len(a.items) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !a.items[i].before(a.items[up]) {
			break
		}
		a.items[i], a.items[up] = a.items[up], a.items[i]
		i = up
	}
}

// First is the item that is due first. ok is false if there is none.
func (a *Agenda[T]) First() (at uint64, value T, ok bool) {
	if len(a.items) == 0 {
		return 0, value, false
	}
	return a.items[0].at, a.items[0].value, true
}

// Remove takes the first item out.
func (a *Agenda[T]) Remove() {
	last := len(a.items) - 1
	a.items[0] = a.items[last]
	a.items[last] = item[T]{}
	a.items = a.items[:last]
	i := 0
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if a.items[child].before(a.items[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		a.items[i], a.items[least] = a.items[least], a.items[i]
		i = least
	}
}

// Package agenda keeps what is due when: a priority queue by time, with a number to break ties, so that its order never
// depends on how it was filled.
package agenda

// Agenda holds items with the time at which they are due. The zero value is empty. An item that is no longer wanted stays
// until its time, and is then for the owner to ignore: it compares the time and the id that it got with those it remembers.
//
// Most are added in the order in which they are due (deadlines that are all as far away), so those stand in a queue, and only others in
// a heap.
type Agenda[T any] struct {
	queue []item[T] // from head on, in order
	head  int
	heap  []item[T]
}

type item[T any] struct {
	at, id uint64
	value  T
}

func (a *item[T]) before(b *item[T]) bool { return a.at < b.at || a.at == b.at && a.id < b.id }

// Len is the number of items, those no longer wanted included.
func (a *Agenda[T]) Len() int { return len(a.queue) - a.head + len(a.heap) }

// Add notes that value is due at. Of two items due at the same time the one with the lower id comes first.
func (a *Agenda[T]) Add(at, id uint64, value T) {
	x := item[T]{at, id, value}
	if a.head == len(a.queue) || !x.before(&a.queue[len(a.queue)-1]) {
		if 2*a.head >= len(a.queue) {
			n := copy(a.queue, a.queue[a.head:])
			clear(a.queue[n:])
			a.queue, a.head = a.queue[:n], 0
		}
		a.queue = append(a.queue, x)
		return
	}
	a.heap = append(a.heap, x)
	i := len(a.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !a.heap[i].before(&a.heap[up]) {
			break
		}
		a.heap[i], a.heap[up] = a.heap[up], a.heap[i]
		i = up
	}
}

// queued says whether the first item is that of the queue.
//
//go:noinline
func (a *Agenda[T]) queued() bool {
	return a.head < len(a.queue) && (len(a.heap) == 0 || a.queue[a.head].before(&a.heap[0]))
}

// First is the item that is due first. ok is false if there is none.
func (a *Agenda[T]) First() (at, id uint64, value T, ok bool) {
	var x *item[T]
	switch {
	case a.Len() == 0:
		return 0, 0, value, false
	case a.queued():
		x = &a.queue[a.head]
	default:
		x = &a.heap[0]
	}
	return x.at, x.id, x.value, true
}

// Remove takes the first item out.
func (a *Agenda[T]) Remove() {
	if a.queued() {
		a.queue[a.head] = item[T]{}
		a.head++
		return
	}
	last := len(a.heap) - 1
	a.heap[0] = a.heap[last]
	a.heap[last] = item[T]{}
	a.heap = a.heap[:last]
	i := 0
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if a.heap[child].before(&a.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		a.heap[i], a.heap[least] = a.heap[least], a.heap[i]
		i = least
	}
}

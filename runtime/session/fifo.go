package session

// fifo is a list that is added to at its end and taken from at its front. Its places are used again. The zero value is empty.
type fifo[T any] struct {
	all  []T // from head on
	head int
}

// list is all that is in it, good until the next call of add, drop or set.
func (f *fifo[T]) list() []T { return f.all[f.head:] }

func (f *fifo[T]) len() int { return len(f.all) - f.head }

//go:noinline
func (f *fifo[T]) add(x T) {
	if len(f.all) == cap(f.all) && 2*f.head >= len(f.all) {
		n := copy(f.all, f.all[f.head:])
		clear(f.all[n:])
		f.all, f.head = f.all[:n], 0
	}
	f.all = append(f.all, x)
}

// drop takes the first n off.
//
//go:noinline
func (f *fifo[T]) drop(n int) {
	clear(f.all[f.head : f.head+n])
	if f.head += n; f.head == len(f.all) {
		f.all, f.head = f.all[:0], 0
	}
}

// set puts another list in its place.
func (f *fifo[T]) set(list []T) { f.all, f.head = list, 0 }

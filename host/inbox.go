package host

import "sync"

// maxWeight is how many bytes of frames and messages from outside may wait for the loop. Their readers wait then, and with
// them whoever sends too fast.
const maxWeight = 4 << 20

// maxBatch is how many inputs one step of the machine gets.
const maxBatch = 256

// An input is something that the loop is told. apply is called by the loop's goroutine, which owns everything.
type input interface{ apply(*loop) }

// inbox is what waits for the loop.
type inbox struct {
	wake chan struct{} // holds a token while something waits

	mu     sync.Mutex
	room   sync.Cond
	items  []weighed
	weight int
	closed bool
}

type weighed struct {
	input
	weight int
}

func newInbox() *inbox {
	b := &inbox{wake: make(chan struct{}, 1)}
	b.room.L = &b.mu
	return b
}

// put adds an input and returns at once. It is false when the loop is over.
func (b *inbox) put(in input) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.add(in, 0)
}

// putWeighed adds an input that holds so many bytes of others, and waits for room first.
func (b *inbox) putWeighed(in input, weight int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.weight > maxWeight && !b.closed {
		b.room.Wait()
	}
	return b.add(in, weight)
}

func (b *inbox) add(in input, weight int) bool {
	if b.closed {
		return false
	}
	b.items = append(b.items, weighed{in, weight})
	b.weight += weight
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// take moves the oldest inputs to the end of batch, at most maxBatch.
func (b *inbox) take(batch []input) []input {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.items), maxBatch)
	for _, item := range b.items[:n] {
		batch = append(batch, item.input)
		b.weight -= item.weight
	}
	rest := copy(b.items, b.items[n:])
	clear(b.items[rest:])
	b.items = b.items[:rest]
	if rest > 0 {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	b.room.Broadcast()
	return batch
}

// close refuses what comes, and gives what still waits.
func (b *inbox) close() []weighed {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.room.Broadcast()
	rest := b.items
	b.items = nil
	return rest
}

package host

import (
	"sync"
	"time"
)

// maxWeight is how many bytes of frames and messages from outside may wait for the loop. Their readers wait then, and with
// them whoever sends too fast.
const maxWeight = 4 << 20

// maxBatch is how many inputs one step of the machine gets.
const maxBatch = 256

// What need not be told at once waits for company: at most so long, and so many.
const (
	maxLate  = 2 * time.Millisecond
	manyLate = 64
)

// atRest is how long nobody ran the loop before a message that is posted counts as a lone one. What comes sooner is part of a
// stream, and gathers.
const atRest = 50 * time.Microsecond

// An input is something that the loop is told. apply is called by who owns the loop, and with it everything.
type input interface{ apply(*loop) }

// inbox is what waits for the loop, and says who owns it. Mostly that is the loop's goroutine. But whoever brings something while
// nobody does can become the owner, and run the loop then and there: that saves a lone message the way from one goroutine to another.
type inbox struct {
	wake chan struct{} // gives the loop to its goroutine

	mu     sync.Mutex
	room   sync.Cond
	items  []weighed
	taken  int  // of items
	urgent bool // what waits is more than what came late
	weight int
	closed bool
	owned  bool
	alone  bool        // only the loop's goroutine may own it
	rested time.Time   // since then nobody owned it
	late   *time.Timer // for what came late
	armed  bool        // and that timer is set
}

type weighed struct {
	input
	weight int
}

// newInbox makes an inbox whose loop is owned already.
func newInbox() *inbox {
	b := &inbox{wake: make(chan struct{}, 1), owned: true}
	b.room.L = &b.mu
	b.late = time.AfterFunc(time.Hour, b.hurry)
	b.late.Stop()
	return b
}

// put adds an input and returns at once. It is false when the loop is over.
func (b *inbox) put(in input) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.add(in, 0) {
		return false
	}
	b.urgent = true
	b.rouse()
	return true
}

// putLate is put for what can wait for a moment: it costs the loop no turn of its own if something else comes, or somebody who has time
// asks for a turn by claim.
func (b *inbox) putLate(in input) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.add(in, 0) {
		return
	}
	if len(b.items)-b.taken >= manyLate {
		b.urgent = true
		b.rouse()
	} else if !b.owned {
		b.arm()
	}
}

// arm sees to it that what came late does not wait for ever. mu is held.
func (b *inbox) arm() {
	if !b.armed {
		b.armed = true
		b.late.Reset(maxLate)
	}
}

// hurry lets wait no longer what came late.
func (b *inbox) hurry() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = false
	if b.waits() {
		b.urgent = true
		b.rouse()
	}
}

// waits says whether anything waits. mu is held.
func (b *inbox) waits() bool { return b.taken < len(b.items) }

// putLone is put, but the caller owns the loop if own is true: it was at rest, and the caller has to run it.
func (b *inbox) putLone(in input) (own, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.add(in, 0) {
		return false, false
	}
	b.urgent = true
	if b.owned || time.Since(b.rested) < atRest {
		b.rouse()
		return false, true
	}
	return b.own(), true
}

// putWeighed adds an input that holds so many bytes of others, and waits for room first. The caller owns the loop if own is true, and
// has to run it.
func (b *inbox) putWeighed(in input, weight int) (own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.weight > maxWeight && !b.closed {
		b.room.Wait()
	}
	if !b.add(in, weight) {
		return false
	}
	b.urgent = true
	return b.own()
}

// claim lets what waits wait no longer. The caller owns the loop if own is true, and has to run it.
func (b *inbox) claim() (own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.waits() {
		return false
	}
	b.urgent = true
	return b.own()
}

// own makes the caller the owner, or else wakes the loop's goroutine where that alone may be. mu is held.
func (b *inbox) own() bool {
	if b.alone {
		b.rouse()
	}
	own := !b.owned
	b.owned = true
	return own
}

// release gives the loop back. It is false, and the caller goes on owning it, if something waits that came not late.
func (b *inbox) release() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.urgent {
		return false
	}
	if b.waits() {
		b.arm()
	}
	b.owned, b.rested = false, time.Now()
	return true
}

// pass gives the caller's loop to its goroutine.
func (b *inbox) pass() { b.wake <- struct{}{} }

// rouse gives the loop to its goroutine if nobody owns it. mu is held.
func (b *inbox) rouse() {
	if !b.owned {
		b.owned = true
		b.wake <- struct{}{}
	}
}

func (b *inbox) add(in input, weight int) bool {
	if b.closed {
		return false
	}
	b.items = append(b.items, weighed{in, weight})
	b.weight += weight
	return true
}

// take moves the oldest inputs to the end of batch, at most maxBatch.
func (b *inbox) take(batch []input) []input {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(b.taken+maxBatch, len(b.items))
	for i := b.taken; i < n; i++ {
		batch = append(batch, b.items[i].input)
		b.weight -= b.items[i].weight
	}
	clear(b.items[b.taken:n])
	b.taken = n
	if left := len(b.items) - n; left <= n {
		copy(b.items, b.items[n:])
		clear(b.items[max(left, n):])
		b.items, b.taken = b.items[:left], 0
	}
	b.urgent = b.waits()
	b.room.Broadcast()
	return batch
}

// close refuses what comes, and gives what still waits.
func (b *inbox) close() []weighed {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.late.Stop()
	b.room.Broadcast()
	rest := b.items[b.taken:]
	b.items, b.taken = nil, 0
	return rest
}

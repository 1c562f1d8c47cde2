package stubs

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// maxQueued is how many bytes may wait for a socket. Senders that heed Blocked never come near it.
const maxQueued = 16 << 20

// item is one WebSocket message that waits to be written.
type item struct {
	kind websocket.MessageType
	data *[]byte // of buffers
}

// queue holds what waits for one socket, and its one writer. Blocked and Writable are reported under its lock: a Writable
// that overtakes the Blocked before it would leave the sender waiting for ever.
type queue struct {
	sink func(Event)

	mu      sync.Mutex
	wake    sync.Cond
	items   []item
	bytes   int // of items, and of what the writer has taken and not yet written
	marks   Marks
	blocked bool // and reported as such
	closing bool // write what waits, then end
	dead    bool
}

func newQueue(sink func(Event)) *queue {
	q := &queue{sink: sink}
	q.wake.L = &q.mu
	return q
}

// maxPooled is the longest buffer that is kept for later.
const maxPooled = 64 << 10

// buffers hold messages between put and write.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// put queues the message of the pieces.
func (q *queue) put(kind websocket.MessageType, pieces ...[]byte) error {
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dead || q.closing {
		return ErrNotLive
	}
	if q.bytes+size > maxQueued {
		return ErrFull
	}
	data := buffers.Get().(*[]byte)
	*data = (*data)[:0]
	for _, p := range pieces {
		*data = append(*data, p...)
	}
	q.items = append(q.items, item{kind, data})
	q.bytes += size
	if !q.blocked && q.bytes > q.marks.High(time.Now()) {
		q.blocked = true
		q.sink(Blocked{})
	}
	q.wake.Signal()
	return nil
}

// finish lets the writer end after what waits.
func (q *queue) finish() {
	q.mu.Lock()
	q.closing = true
	q.wake.Signal()
	q.mu.Unlock()
}

// kill ends the writer and drops what waits.
func (q *queue) kill() {
	q.mu.Lock()
	q.dead = true
	q.items, q.bytes = nil, 0
	q.wake.Signal()
	q.mu.Unlock()
}

// run is the writer. It ends after finish and kill, and with an error of the socket.
func (q *queue) run(s *Socket) error {
	var spare []item
	for {
		batch, ok := q.take(spare)
		if !ok {
			return nil
		}
		// What waits together leaves together: one system call for many small messages.
		s.wire.cork()
		for i, it := range batch {
			size := len(*it.data)
			if err := s.conn.Write(context.Background(), it.kind, *it.data); err != nil {
				return err
			}
			if i == len(batch)-1 {
				if err := s.wire.uncork(); err != nil {
					return err
				}
			}
			if size <= maxPooled {
				buffers.Put(it.data)
			}
			q.wrote(size)
		}
		spare = batch
	}
}

// take waits for messages. spare is where the next ones are gathered.
func (q *queue) take(spare []item) (batch []item, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.dead && !q.closing && len(q.items) == 0 {
		q.wake.Wait()
	}
	if q.dead || len(q.items) == 0 {
		return nil, false
	}
	batch = q.items
	clear(spare)
	q.items = spare[:0]
	return batch, true
}

func (q *queue) wrote(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dead {
		return
	}
	now := time.Now()
	q.bytes -= n
	q.marks.Moved(now, n)
	if q.blocked && q.bytes <= q.marks.Low(now) {
		q.blocked = false
		q.sink(Writable{})
	}
}

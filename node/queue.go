package node

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"
	"github.com/hyroute/hyroute/runtime/frame"
)

// A queue holds what is to be written to one client, in order. Whoever puts something in never waits: one goroutine takes all
// that came together out and writes it. The messages stand one after the other in one buffer, so that passing on a frame
// costs a copy and no allocation.
type queue struct {
	frameLimit, limit int

	// size is how many bytes wait, or are being written.
	size atomic.Int64
	wake chan struct{}

	mu      sync.Mutex
	waiting []byte
	ended   bool
	sources sources
}

// A verdict says what became of a message that was put into a queue.
type verdict uint8

const (
	taken verdict = iota
	full
	ended
)

const (
	recordHead = 4
	binaryMark = 1 << 31
	queueKept  = 1 << 20 // memory kept for the next time, until nothing came for a while
)

func newQueue(l *Limits) *queue {
	return &queue{frameLimit: l.FrameQueue, limit: l.Queue, wake: make(chan struct{}, 1)}
}

// text puts in a text message.
func (q *queue) text(message []byte) verdict {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.put(message)
}

// textFirst puts in a text message and does what lets others send to this client, in one: nothing of theirs comes before the
// message, and all of it is possible once the client has the message.
func (q *queue) textFirst(message []byte, let func()) verdict {
	q.mu.Lock()
	defer q.mu.Unlock()
	let()
	return q.put(message)
}

// put puts in a text message. mu is held.
func (q *queue) put(message []byte) verdict {
	if v := q.room(len(message), q.limit); v != taken {
		return v
	}
	q.open(len(message), 0)
	q.waiting = append(q.waiting, message...)
	return taken
}

// frame puts in a FORWARD of session frame f, after the NAME of its source where the client does not know that yet.
func (q *queue) frame(from *seat, f []byte) verdict {
	q.mu.Lock()
	defer q.mu.Unlock()
	if v := q.room(len(f), q.frameLimit); v != taken {
		return v
	}
	handle, known := q.sources.handle(from)
	if !known {
		url := from.url.String()
		q.open(1+varintSize(handle)+varintSize(uint64(len(url)))+len(url), binaryMark)
		q.waiting = frame.AppendName(q.waiting, handle, url)
	}
	q.open(1+varintSize(handle)+len(f), binaryMark)
	q.waiting = append(frame.AppendForward(q.waiting, handle), f...)
	return taken
}

// notice puts in a NOTICE about session frame f. If there is no room it is left out: it is a help, not a promise.
func (q *queue) notice(handle uint64, reason byte, f []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.room(frame.NoticeHead, q.frameLimit) != taken {
		return
	}
	q.open(1+varintSize(handle)+1+min(len(f), frame.NoticeHead), binaryMark)
	q.waiting = frame.AppendNotice(q.waiting, handle, reason, f)
}

// room says whether so many bytes may come in. An empty queue takes anything.
func (q *queue) room(bytes, limit int) verdict {
	if q.ended {
		return ended
	}
	if size := q.size.Load(); size > 0 && size+int64(bytes) > int64(limit) {
		return full
	}
	return taken
}

// open begins a record of so many bytes.
func (q *queue) open(bytes int, mark uint32) {
	if len(q.waiting) == 0 {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	q.size.Add(int64(recordHead + bytes))
	q.waiting = binary.BigEndian.AppendUint32(q.waiting, uint32(bytes)|mark)
}

// end lets nothing more in. What waits is still written, or is dropped.
func (q *queue) end(drop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	if drop {
		q.waiting = nil
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take gives all that waits, and the queue's memory in exchange for spare. more is false when nothing comes after it.
func (q *queue) take(spare []byte) (records []byte, more bool) {
	if cap(spare) > queueKept {
		spare = nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	records, q.waiting = q.waiting, spare[:0]
	return records, !q.ended
}

// relax gives memory back that a burst has taken.
func (q *queue) relax() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.waiting = nil
	}
}

// next cuts the first record off.
func next(records []byte) (kind websocket.MessageType, message, rest []byte) {
	head := binary.BigEndian.Uint32(records)
	kind = websocket.MessageText
	if head&binaryMark != 0 {
		kind = websocket.MessageBinary
	}
	size := recordHead + int(head&^binaryMark)
	return kind, records[recordHead:size], records[size:]
}

func varintSize(v uint64) int {
	var b [8]byte
	return len(frame.AppendVarint(b[:0], v))
}

// sources are the handles under which a client knows the runtimes whose frames it gets. When all are in use, the one that was
// defined first is defined anew.
type sources struct {
	handles map[*seat]uint64
	seats   []*seat // by handle-1
	oldest  int
}

// handle is the handle of a runtime, and whether the client knows it.
func (s *sources) handle(of *seat) (handle uint64, known bool) {
	if handle, known = s.handles[of]; known {
		return handle, true
	}
	if s.handles == nil {
		s.handles = map[*seat]uint64{}
	}
	if len(s.seats) < frame.MaxHandle {
		s.seats = append(s.seats, of)
		handle = uint64(len(s.seats))
	} else {
		delete(s.handles, s.seats[s.oldest])
		s.seats[s.oldest] = of
		handle = uint64(s.oldest + 1)
		s.oldest = (s.oldest + 1) % frame.MaxHandle
	}
	s.handles[of] = handle
	return handle, false
}

package host

import (
	"fmt"

	"github.com/hyroute/hyroute/runtime/engine"
)

// frames are the payloads of the frames of one step.
type frames struct {
	first    uint64 // the number of the first one
	payloads [][]byte
}

// add gives a payload a number, which never comes again.
func (f *frames) add(payload []byte) uint64 {
	f.payloads = append(f.payloads, payload)
	return f.first + uint64(len(f.payloads))
}

// slice is a part of the payload of a frame of this step. It is false if there is no such part.
func (f *frames) slice(e *engine.Hold) ([]byte, bool) {
	i := e.Frame - f.first - 1
	if i >= uint64(len(f.payloads)) {
		return nil, false
	}
	p := f.payloads[i]
	if e.Offset < 0 || e.Length < 0 || e.Offset > len(p) || e.Length > len(p)-e.Offset {
		return nil, false
	}
	return p[e.Offset : e.Offset+e.Length : e.Offset+e.Length], true
}

func (f *frames) clear() {
	f.first += uint64(len(f.payloads))
	clear(f.payloads)
	f.payloads = f.payloads[:0]
}

// held are chunks that came in and are not handed over yet. The machine bounds them.
type held struct {
	// latest came last. Mostly they are handed over in the Step that they came in, in their order, and never become some of chunks.
	latest []chunk
	gone   int                          // of latest
	chunks map[uint64]map[uint64][]byte // by session and number
}

// chunk is a piece of a message that came in.
type chunk struct {
	session, number uint64
	bytes           []byte
}

func (h *held) keep(session, number uint64, bytes []byte) {
	h.latest = append(h.latest, chunk{session, number, bytes})
}

// next takes a message of one chunk if that is the next of the latest ones.
func (h *held) next(session, number uint64) ([]byte, bool) {
	if h.gone == len(h.latest) || h.latest[h.gone].session != session || h.latest[h.gone].number != number {
		return nil, false
	}
	bytes := h.latest[h.gone].bytes
	if h.gone++; h.gone == len(h.latest) {
		h.settle()
	}
	return bytes, true
}

// settle puts the latest chunks to the others.
func (h *held) settle() {
	for _, c := range h.latest[h.gone:] {
		chunks := h.chunks[c.session]
		if chunks == nil {
			chunks = map[uint64][]byte{}
			if h.chunks == nil {
				h.chunks = map[uint64]map[uint64][]byte{}
			}
			h.chunks[c.session] = chunks
		}
		chunks[c.number] = c.bytes
	}
	clear(h.latest)
	h.latest, h.gone = h.latest[:0], 0
}

func (h *held) drop(session, first, last uint64) {
	h.settle()
	chunks := h.chunks[session]
	if last-first >= uint64(len(chunks)) {
		for n := range chunks {
			if n >= first && n <= last {
				delete(chunks, n)
			}
		}
	} else {
		for n := first; n <= last; n++ {
			delete(chunks, n)
		}
	}
	if len(chunks) == 0 {
		delete(h.chunks, session)
	}
}

// take joins chunks into one message, and forgets them. A lone chunk is not copied.
func (h *held) take(session, first, last uint64) ([]byte, error) {
	if first == last {
		if c, ok := h.next(session, first); ok {
			return c, nil
		}
	}
	h.settle()
	if last < first {
		return nil, fmt.Errorf("chunks %d to %d of session %d are none", first, last, session)
	}
	chunks := h.chunks[session]
	defer h.drop(session, first, last)
	if first == last {
		if c, ok := chunks[first]; ok {
			return c, nil
		}
	}
	size := 0
	for n := first; n <= last; n++ {
		c, ok := chunks[n]
		if !ok {
			return nil, fmt.Errorf("chunk %d of session %d is not here", n, session)
		}
		size += len(c)
	}
	whole := make([]byte, 0, size)
	for n := first; n <= last; n++ {
		whole = append(whole, chunks[n]...)
	}
	return whole, nil
}

package session

import "github.com/hyroute/hyroute/runtime/frame"

// arrived is a chunk of the peer's stream that waits for those before it. It holds no pointer: what is rare stands beside it.
type arrived struct {
	number uint64 // 0: nothing is here
	length int
	flow   uint32 // one that can not be is maxFlow
	flags  frame.ChunkFlags
	direct bool
}

const maxFlow = 1<<32 - 1

// window holds the chunks that arrived, by their numbers, which lie within a bounded range: number n stands at n modulo the places. The
// zero value is empty.
type window struct {
	places []arrived // as many as a power of 2
	count  int
	rare   map[uint64]frame.Chunk // definitions and refusals
}

// get is the chunk with that number, if it is here.
func (w *window) get(n uint64) (a arrived, here bool) {
	if w.count > 0 {
		a = w.places[n&uint64(len(w.places)-1)]
	}
	return a, a.number == n
}

func (w *window) has(n uint64) bool {
	_, here := w.get(n)
	return here
}

// put keeps a chunk that is not in it. All numbers in it, this one too, are above base.
func (w *window) put(base, n uint64, k *frame.Chunk, direct bool) {
	if n-base > uint64(len(w.places)) {
		w.grow(base, n)
	}
	w.places[n&uint64(len(w.places)-1)] = arrived{n, k.Length, uint32(min(k.Flow, maxFlow)), k.Flags, direct}
	w.count++
	if k.Flags&(frame.Def|frame.Refuse) != 0 {
		if w.rare == nil {
			w.rare = map[uint64]frame.Chunk{}
		}
		w.rare[n] = *k
	}
}

func (w *window) grow(base, n uint64) {
	size := max(16, 2*uint64(len(w.places)))
	for size < n-base {
		size *= 2
	}
	places := make([]arrived, size)
	for i, left := base+1, w.count; left > 0; i++ {
		if a, here := w.get(i); here {
			places[i&(size-1)] = a
			left--
		}
	}
	w.places = places
}

// chunk is all that was said of the chunk with that number.
func (w *window) chunk(n uint64) frame.Chunk {
	if k, ok := w.rare[n]; ok {
		return k
	}
	a, _ := w.get(n)
	return frame.Chunk{Flags: a.flags, Flow: uint64(a.flow), Length: a.length}
}

// remove forgets a chunk that is in it.
func (w *window) remove(n uint64) {
	a := &w.places[n&uint64(len(w.places)-1)]
	if a.flags&(frame.Def|frame.Refuse) != 0 {
		delete(w.rare, n)
	}
	*a = arrived{}
	w.count--
}

package session

import "github.com/hyroute/hyroute/runtime/frame"

// An incarnation names one send stream: 40 bits of clock in ticks of 16 ms and 12 random bits are its life, the lowest 12
// bits (k) say how often the stream started over within that life. Incarnations are ordered as numbers; 0 is none.

const (
	kBits    = 12
	kMask    = 1<<kBits - 1
	tickBits = 4 // a tick is 16 ms
	lifeMask = 1<<52 - 1
)

func lifeOf(inc uint64) uint64 { return inc >> kBits }

func kOf(inc uint64) uint64 { return inc & kMask }

// newLife draws an incarnation that begins a life: later than all that this table drew before.
func (t *Table) newLife() uint64 {
	life := ((t.wall + t.now) >> tickBits << kBits & lifeMask) | t.random.Uint64()&kMask
	if life <= t.life {
		life = t.life + 1
	}
	t.life = life
	return life << kBits
}

// nextIncarnation is the incarnation of a stream that starts over: the next k of this life, or, if that is not above the
// number told, the first of a life above it.
func (t *Table) nextIncarnation(inc, above uint64) uint64 {
	next := inc + 1
	if kOf(inc) == kMask {
		next = (lifeOf(inc)+1)<<kBits | 1
	}
	if next <= above {
		life := (lifeOf(above)>>kBits+1)<<kBits | t.random.Uint64()&kMask
		next = life<<kBits | 1
	}
	return next
}

// tags are those of the short frames between two incarnations, as they were last asked for.
type tags struct {
	mine, peers uint64
	out, in     uint32
}

func (s *Session) tag() *tags {
	if x := &s.tags; x.mine != s.inc || x.peers != s.pinc {
		*x = tags{s.inc, s.pinc, frame.Tag(s.inc, s.pinc), frame.Tag(s.pinc, s.inc)}
	}
	return &s.tags
}

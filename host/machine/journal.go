package machine

import "iter"

const (
	defaultJournalFrames = 8192
	defaultJournalBytes  = 1 << 20
	mostJournalBytes     = 64 << 20
)

// journal is what a lost machine is made again from: what it began with, and the frames since. The machine is deterministic,
// so nothing else is needed.
type journal struct {
	opened bool   // base is an open line, else a snapshot
	base   []byte // what it began with
	text   []byte // the frames, one after the other
	ends   []int  // where each of them ends in text

	mostFrames, mostBytes int // limits that were set
	frameLimit, byteLimit int // limits that hold now
}

func newJournal(frames, size int) journal {
	if frames <= 0 {
		frames = defaultJournalFrames
	}
	if size <= 0 {
		size = defaultJournalBytes
	}
	return journal{mostFrames: frames, mostBytes: size}
}

// begin starts over from base, which the journal keeps. A large snapshot is taken more rarely than a small one, so that the
// bytes copied for snapshots stay in proportion to those that came in.
func (j *journal) begin(opened bool, base []byte) {
	j.opened, j.base = opened, base
	j.text, j.ends = j.text[:0], j.ends[:0]
	j.frameLimit, j.byteLimit = j.mostFrames, j.mostBytes
	if !opened {
		j.byteLimit = max(j.byteLimit, min(len(base), mostJournalBytes))
	}
}

func (j *journal) add(frame []byte) {
	j.text = append(j.text, frame...)
	j.ends = append(j.ends, len(j.text))
}

func (j *journal) full() bool { return len(j.ends) >= j.frameLimit || len(j.text) >= j.byteLimit }

// extend doubles the limits, and says whether that was still possible.
func (j *journal) extend() bool {
	if len(j.text) >= mostJournalBytes {
		return false
	}
	j.frameLimit, j.byteLimit = 2*j.frameLimit, 2*j.byteLimit
	return true
}

// frames are all frames since base, in order.
func (j *journal) frames() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		begin := 0
		for _, end := range j.ends {
			if !yield(j.text[begin:end]) {
				return
			}
			begin = end
		}
	}
}

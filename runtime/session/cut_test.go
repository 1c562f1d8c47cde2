package session

import "testing"

// cutting is a timed world that sees how messages are cut.
type cutting struct {
	*timed
	slices map[string]int
	frames int
	most   int
}

func (w *cutting) send(from *modelEnd, l modelLetter) {
	for _, s := range l.payload {
		w.slices[s.name]++
	}
	if len(l.payload) > 0 {
		w.frames++
	}
	w.most = max(w.most, l.size()+len(l.head))
	w.timed.send(from, l)
}

// TestCut sends messages of one size, many of which wait: on a path that keeps pace, what fits one frame goes in one slice, and frames are
// full. On a slow one frames are small, and so are the slices.
func TestCut(t *testing.T) {
	n := DefaultNumbers()
	for _, c := range []struct {
		name       string
		rate       uint64 // bytes a ms; 0: as fast as can be
		size       int
		slices     int // of a message
		mean, most int // what a frame holds, in bytes
	}{
		{"as small as a frame was at first", 0, 16 << 10, 1, 40 << 10, n.LargeFrame},
		{"half a frame", 0, 31_000, 1, 31_000, n.LargeFrame},
		{"a frame", 0, n.Whole, 1, n.Whole, n.LargeFrame},
		{"more", 0, n.Whole + 1, 4, 48_000, n.LargeFrame},
		{"a slow path", 125, 20_000, 2, 10_000, 20 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &cutting{timed: newTimed(), slices: map[string]int{}}
			m.links[0].jitter = 0
			for _, e := range m.ends {
				e.w = m
			}
			if c.rate > 0 {
				m.links[0].line = &timedLine{rate: c.rate}
			}
			count := 3 << 20 / c.size
			post := func() {
				for range count {
					m.ends[0].post(c.size, 600_000, "", 0)
				}
				m.arm(m.ends[0])
				m.runUntil(m.now + 60_000)
				m.check(t)
			}
			post()
			m.slices, m.frames, m.most = map[string]int{}, 0, 0
			post()
			if len(m.slices) != count {
				t.Fatalf("%d messages went", len(m.slices))
			}
			for name, got := range m.slices {
				if got != c.slices {
					t.Errorf("message %s in %d slices, not %d", name, got, c.slices)
				}
			}
			if mean := count * c.size / m.frames; mean < c.mean*3/4 {
				t.Errorf("%d bytes in a frame", mean)
			}
			if m.most > c.most {
				t.Errorf("a frame of %d bytes", m.most)
			}
		})
	}
}

package stubs

import (
	"testing"
	"time"
)

func TestMarksFollowWhatMoved(t *testing.T) {
	var m Marks
	now := time.Unix(1000, 0)
	if got := m.High(now); got != MinMark {
		t.Errorf("at first %d", got)
	}
	for range 10 {
		m.Moved(now, 20_000)
		now = now.Add(50 * time.Millisecond)
	}
	if got := m.High(now); got != 80_000 {
		t.Errorf("at 400 kB/s: %d", got)
	}
	m.Moved(now, 10<<20)
	if got := m.High(now); got != MaxMark {
		t.Errorf("at 10 MB/s: %d", got)
	}
	if got := m.High(now.Add(time.Second)); got != MinMark {
		t.Errorf("a second later: %d", got)
	}
	if got := m.High(now.Add(-time.Hour)); got < MinMark || got > MaxMark {
		t.Errorf("in the past: %d", got)
	}
}

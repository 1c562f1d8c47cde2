// Package stubtest is the conformance suite for any stub: what a runtime relies on, whoever wrote the stub.
package stubtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/stubs"
)

// patience is how long a case waits for an event before it fails.
const patience = 20 * time.Second

// Pair is two joined ends, both live.
type Pair struct {
	A, B     stubs.Stub
	ToB, ToA uint64   // the handles to use
	Lose     func()   // cuts the connection of A without any farewell
	Unread   func()   // makes the other side of A take nothing more; nil where that can not be done
	Packages []string // import paths whose goroutines must be gone once both are closed and done
}

// Join makes a Pair whose events go to these functions.
type Join func(t *testing.T, a, b func(stubs.Event)) Pair

// TestStub runs all cases.
func TestStub(t *testing.T, join Join) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Join)
	}{
		{"Order", testOrder},
		{"SizeLimit", testSizeLimit},
		{"ConcurrentSenders", testConcurrentSenders},
		{"MarksAreHeeded", testMarks},
		{"PiecesMayBeUsedAgain", testPieces},
		{"CloseWhileBlocked", testCloseWhileBlocked},
		{"CleanClose", testCleanClose},
		{"LossGivesAnError", testLoss},
		{"NoGoroutineLeft", testNoGoroutineLeft},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, join) })
	}
}

// end gathers what one side reports.
type end struct {
	mu      sync.Mutex
	changed chan struct{} // closed and made anew at each event
	frames  [][]byte      // payloads
	last    stubs.Changed
	blocked bool
	marks   []bool // each Blocked (true) and Writable
	stop    bool   // events after this are an error
	late    []stubs.Event
}

func newEnd() *end { return &end{changed: make(chan struct{})} }

func (e *end) sink(event stubs.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch event := event.(type) {
	case stubs.Frame:
		e.frames = append(e.frames, event.Payload)
	case stubs.Changed:
		e.last = event
	case stubs.Blocked:
		e.blocked = true
		e.marks = append(e.marks, true)
	case stubs.Writable:
		e.blocked = false
		e.marks = append(e.marks, false)
	}
	if e.stop {
		e.late = append(e.late, event)
	}
	close(e.changed)
	e.changed = make(chan struct{})
}

// wait waits until ok, which is called with e locked, holds.
func (e *end) wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		e.mu.Lock()
		holds, changed := ok(), e.changed
		e.mu.Unlock()
		if holds {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			t.Fatalf("%s: nothing of the kind within %v; last state %v (%s)", what, patience, e.last.Status, e.last.Reason)
		}
	}
}

func start(t *testing.T, join Join) (Pair, *end, *end) {
	t.Helper()
	a, b := newEnd(), newEnd()
	p := join(t, a.sink, b.sink)
	t.Cleanup(func() {
		p.A.Close()
		p.B.Close()
		done(t, p.A)
		done(t, p.B)
	})
	return p, a, b
}

func done(t *testing.T, s stubs.Stub) {
	t.Helper()
	select {
	case <-s.Done():
	case <-time.After(patience):
		t.Fatal("not done after Close")
	}
}

// head is a session frame's header that any stub can cut off: a bare frame with a tag.
func head(t *testing.T) []byte {
	h := frame.Header{Tag: 7}
	b, err := h.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// send heeds the marks, as the machine does.
func send(t *testing.T, s stubs.Stub, e *end, handle uint64, pieces ...[]byte) {
	t.Helper()
	e.wait(t, "writable", func() bool { return !e.blocked })
	if err := s.Transmit(handle, pieces...); err != nil {
		t.Fatal(err)
	}
}

func testOrder(t *testing.T, join Join) {
	const count = 5000
	p, a, b := start(t, join)
	var both sync.WaitGroup
	h := head(t)
	for _, way := range []struct {
		stub stubs.Stub
		from *end
		to   uint64
	}{{p.A, a, p.ToB}, {p.B, b, p.ToA}} {
		both.Go(func() {
			for i := range count {
				payload := make([]byte, 4+i%700)
				binary.BigEndian.PutUint32(payload, uint32(i))
				way.from.wait(t, "writable", func() bool { return !way.from.blocked })
				if err := way.stub.Transmit(way.to, h, payload); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	both.Wait()
	for _, e := range []*end{a, b} {
		e.wait(t, "all frames", func() bool { return len(e.frames) == count })
		for i, f := range e.frames {
			if len(f) != 4+i%700 || binary.BigEndian.Uint32(f) != uint32(i) {
				t.Fatalf("frame %d: %d bytes, number %d", i, len(f), binary.BigEndian.Uint32(f))
			}
		}
	}
}

func testSizeLimit(t *testing.T, join Join) {
	p, a, b := start(t, join)
	h := head(t)
	largest := make([]byte, stubs.MaxFrame-len(h))
	for i := range largest {
		largest[i] = byte(i * 7)
	}
	if err := p.A.Transmit(p.ToB, h, append(largest, 0)); !errors.Is(err, stubs.ErrTooBig) {
		t.Errorf("one byte too many: %v", err)
	}
	send(t, p.A, a, p.ToB, h, largest)
	send(t, p.A, a, p.ToB, h)
	b.wait(t, "the largest and an empty one", func() bool { return len(b.frames) == 2 })
	if !bytes.Equal(b.frames[0], largest) || len(b.frames[1]) != 0 {
		t.Errorf("%d and %d bytes came", len(b.frames[0]), len(b.frames[1]))
	}
}

func testConcurrentSenders(t *testing.T, join Join) {
	const senders, each = 8, 200
	p, a, b := start(t, join)
	h := head(t)
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				a.wait(t, "writable", func() bool { return !a.blocked })
				if err := p.A.Transmit(p.ToB, h, []byte{byte(s)}, []byte{byte(i)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.wait(t, "all frames", func() bool { return len(b.frames) == senders*each })
	var next [senders]byte
	for _, f := range b.frames {
		if len(f) != 2 || f[1] != next[f[0]] {
			t.Fatalf("frame %v, wanted number %d", f, next[f[0]])
		}
		next[f[0]]++
	}
}

func testMarks(t *testing.T, join Join) {
	p, a, b := start(t, join)
	h, payload := head(t), make([]byte, 16000)
	sent := 0
	// Without heeding anything, until well above the highest mark.
	for sent*len(payload) < 4*stubs.MaxMark {
		if err := p.A.Transmit(p.ToB, h, payload); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	b.wait(t, "all frames", func() bool { return len(b.frames) == sent })
	a.wait(t, "writable again", func() bool { return !a.blocked })
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.marks) == 0 {
		t.Error("never blocked")
	}
	for i, blocked := range a.marks {
		if blocked != (i%2 == 0) {
			t.Fatalf("blocked and writable do not take turns: %v", a.marks)
		}
	}
}

func testPieces(t *testing.T, join Join) {
	p, a, b := start(t, join)
	h, payload := head(t), []byte("first")
	send(t, p.A, a, p.ToB, h, payload)
	copy(payload, "other")
	b.wait(t, "the frame", func() bool { return len(b.frames) == 1 })
	if string(b.frames[0]) != "first" {
		t.Errorf("%q came", b.frames[0])
	}
}

func testCloseWhileBlocked(t *testing.T, join Join) {
	p, a, _ := start(t, join)
	if p.Unread == nil {
		t.Skip("the other side of this stub can not be stopped")
	}
	p.Unread()
	h, payload := head(t), make([]byte, 16000)
	for range 64 * stubs.MaxMark / len(payload) {
		a.mu.Lock()
		blocked := a.blocked
		a.mu.Unlock()
		if blocked {
			break
		}
		if err := p.A.Transmit(p.ToB, h, payload); err != nil {
			t.Fatal(err)
		}
	}
	a.wait(t, "blocked", func() bool { return a.blocked })
	p.A.Close()
	done(t, p.A)
}

func testCleanClose(t *testing.T, join Join) {
	p, a, b := start(t, join)
	h := head(t)
	send(t, p.A, a, p.ToB, h, []byte("before"))
	b.wait(t, "the frame before", func() bool { return len(b.frames) == 1 })
	p.A.Close()
	p.A.Close()
	done(t, p.A)
	if err := p.A.Transmit(p.ToB, h, []byte("after")); !errors.Is(err, stubs.ErrNotLive) {
		t.Errorf("transmit after close: %v", err)
	}
	a.mu.Lock()
	a.stop = true
	a.mu.Unlock()
	p.B.Close()
	done(t, p.B)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.late) > 0 {
		t.Errorf("events after Done: %v", a.late)
	}
}

func testLoss(t *testing.T, join Join) {
	p, a, _ := start(t, join)
	p.Lose()
	a.wait(t, "the loss", func() bool { return a.last.Status == stubs.Disconnected || a.last.Status == stubs.Failed })
	if a.last.Reason == "" {
		t.Error("no reason")
	}
	if err := p.A.Transmit(p.ToB, head(t), []byte("after")); !errors.Is(err, stubs.ErrNotLive) {
		t.Errorf("transmit after the loss: %v", err)
	}
}

func testNoGoroutineLeft(t *testing.T, join Join) {
	p, a, _ := start(t, join)
	send(t, p.A, a, p.ToB, head(t), []byte("x"))
	p.A.Close()
	p.B.Close()
	done(t, p.A)
	done(t, p.B)
	NoGoroutines(t, p.Packages...)
}

// NoGoroutines fails if a goroutine runs code of these packages, once those that are just ending had time to.
func NoGoroutines(t *testing.T, packages ...string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		left := goroutinesOf(packages)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, the first:\n%s", len(left), left[0])
		}
		runtime.Gosched()
	}
}

func goroutinesOf(packages []string) (found []string) {
	b := make([]byte, 4<<20)
	for _, g := range strings.Split(string(b[:runtime.Stack(b, true)]), "\n\n")[1:] {
		if strings.Contains(g, "testing.tRunner(") {
			continue // a test that waits for its parts
		}
		for _, p := range packages {
			if strings.Contains(g, p) {
				found = append(found, g)
				break
			}
		}
	}
	return found
}

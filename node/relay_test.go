package node

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/hyroute/hyroute/runtime/frame"
)

func (u *user) expectName(handle uint64, runtime string) {
	u.t.Helper()
	if e := u.nextEnvelope(); e.Kind != frame.KindName || e.Handle != handle || e.Runtime != runtime {
		u.t.Fatalf("wanted NAME %d %s, got %+v", handle, runtime, e)
	}
}

func (u *user) expectForward(handle uint64, f string) {
	u.t.Helper()
	if e := u.nextEnvelope(); e.Kind != frame.KindForward || e.Handle != handle || string(e.Frame) != f {
		u.t.Fatalf("wanted FORWARD %d %q, got %+v", handle, f, e)
	}
}

func (u *user) expectNotice(handle uint64, reason byte, f string) {
	u.t.Helper()
	if e := u.nextEnvelope(); e.Kind != frame.KindNotice || e.Handle != handle || e.Reason != reason || string(e.Frame) != f {
		u.t.Fatalf("wanted NOTICE %d %d %q, got %+v", handle, reason, f, e)
	}
}

func (u *user) expectFrameError() string {
	u.t.Helper()
	got := u.next()
	u.expectCode(got, 400)
	if got["from"] != framesURL {
		u.t.Fatalf("got %v", got)
	}
	return got["body"].(fields)["desc"].(string)
}

func TestRelay(t *testing.T) {
	w := newWorld(t, nil)
	a, b, c := w.enter(), w.enter(), w.enter()
	a.name(7, b.url)
	a.forward(7, "one")
	a.forward(7, "two")
	b.expectName(1, a.url)
	b.expectForward(1, "one")
	b.expectForward(1, "two")
	c.name(4095, b.url)
	c.forward(4095, "three")
	b.expectName(2, c.url)
	b.expectForward(2, "three")
	b.name(1, a.url)
	b.forward(1, "back")
	a.expectName(1, b.url)
	a.expectForward(1, "back")
	// The definer may give a handle another meaning.
	a.name(7, c.url)
	a.forward(7, "four")
	c.expectName(1, a.url)
	c.expectForward(1, "four")
	// Nobody is too close to write to.
	a.name(8, a.url)
	a.forward(8, "self")
	a.expectName(2, a.url)
	a.expectForward(2, "self")
}

// Whatever a client calls its peer, the frame comes from the runtime that its socket proved.
func TestFrameWithAnothersSource(t *testing.T) {
	w := newWorld(t, nil)
	a, b, mallory := w.enter(), w.enter(), w.enter()
	mallory.name(1, a.url)
	mallory.name(2, b.url)
	mallory.sendBinary(frame.AppendNotice(nil, 2, 1, []byte("x")))
	if desc := mallory.expectFrameError(); !strings.Contains(desc, "NOTICE") {
		t.Errorf("desc is %q", desc)
	}
	mallory.forward(2, "forged")
	b.expectName(1, mallory.url)
	b.expectForward(1, "forged")
	a.quiet()
}

func TestNoticeOnUnattachedRuntime(t *testing.T) {
	w := newWorld(t, nil)
	a := w.enter()
	nobody := "runtime://a.example/" + strings.Repeat("a", 32)
	a.name(3, nobody)
	long := "a frame that is longer than what a NOTICE repeats"
	a.forward(3, long)
	a.expectNotice(3, frame.NoticeNoRuntime, long[:frame.NoticeHead])
	a.forward(3, "short")
	a.expectNotice(3, frame.NoticeNoRuntime, "short")

	b := w.enter()
	a.name(4, b.url)
	a.forward(4, "here")
	b.expectName(1, a.url)
	b.expectForward(1, "here")
	b.drop()
	a.expectNotice(4, frame.NoticeNoRuntime, "") // who sends nothing hears of it too
	a.forward(4, "away")
	a.expectNotice(4, frame.NoticeNoRuntime, "away")
	again := w.dial(true)
	again.key = b.key
	again.expect(200, again.openMessage("re-open", b.token))
	a.forward(4, "back")
	again.expectName(1, a.url)
	again.expectForward(1, "back")
	// A handle outlives the session that it meant: it means the runtime.
	again.drop()
	a.expectNotice(4, frame.NoticeNoRuntime, "")
	w.clock.pass(time.Hour)
	third := w.dial(true)
	third.open(b.key)
	a.forward(4, "anew")
	third.expectName(1, a.url)
	third.expectForward(1, "anew")
	// Of two handles for it the newest is told of, and none that means another runtime by then.
	a.name(5, b.url)
	a.forward(5, "by the newest")
	third.expectForward(1, "by the newest")
	third.send(`{"id":9,"type":"close","from":"` + b.url + `","to":"` + sessionURL + `"}`)
	a.expectNotice(5, frame.NoticeNoRuntime, "")
	a.name(4, nobody)
	a.name(5, nobody)
	fourth := w.dial(true)
	fourth.open(b.key)
	fourth.drop()
	w.until("it is away", func() bool { return w.away(b.url) })
	a.quiet()
}

func TestNoticeOnPeerWithoutSessions(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AllowUnsigned = true })
	a, old := w.enter(), w.legacy("runtime://a.example/legacy")
	a.name(1, old.url)
	a.forward(1, "frame")
	a.expectNotice(1, frame.NoticeNoSessions, "frame")
	old.sendBinary(frame.AppendName(nil, 1, a.url))
	if desc := old.expectFrameError(); !strings.Contains(desc, Subprotocol) {
		t.Errorf("desc is %q", desc)
	}
	old.quiet()
}

func TestOversizedFrame(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.enter(), w.enter()
	a.name(1, b.url)
	largest := strings.Repeat("x", 64<<10)
	a.forward(1, largest)
	b.expectName(1, a.url)
	b.expectForward(1, largest)
	a.forward(1, largest+"y")
	a.expectNotice(1, frame.NoticeTooBig, largest[:frame.NoticeHead])
	b.quiet()
	a.quiet()
}

func TestOversizedMessage(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.enter(), w.enter()
	for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
		u := w.enter()
		// The socket may be closed while this is under way.
		go u.conn.Write(context.Background(), kind, make([]byte, 3<<20))
		if code := u.closed(); code != websocket.StatusMessageTooBig {
			t.Errorf("closed with %d", code)
		}
	}
	a.quiet()
	b.quiet()
}

func TestGarbageFrames(t *testing.T) {
	w := newWorld(t, nil)
	b := w.enter()
	for name, garbage := range map[string][]byte{
		"empty":               {},
		"unknown kind":        {9, 1, 2, 3},
		"no handle":           {frame.KindForward},
		"handle cut":          {frame.KindForward, 0xc0, 1},
		"NAME cut":            {frame.KindName, 1, 9, 'x'},
		"NAME too long":       {frame.KindName, 1, 0, 'x'},
		"NAME of handle 0":    frame.AppendName(nil, 0, b.url),
		"NAME of handle 4096": frame.AppendName(nil, 4096, b.url),
		"NAME of no runtime":  frame.AppendName(nil, 1, "hyperty://a.example/x"),
		"NAME of a component": frame.AppendName(nil, 1, b.url+"/sm"),
		"NAME of nothing":     frame.AppendName(nil, 1, ""),
		"NAME of garbage":     frame.AppendName(nil, 1, "\xff\x00"),
		"undefined handle":    append(frame.AppendForward(nil, 5), "frame"...),
		"handle 0":            append(frame.AppendForward(nil, 0), "frame"...),
		"handle 2^62-1":       append(frame.AppendForward(nil, frame.MaxVarint), "frame"...),
		"NOTICE":              frame.AppendNotice(nil, 1, 1, []byte("x")),
	} {
		u := w.enter()
		for range 15 {
			u.sendBinary(garbage)
			if desc := u.expectFrameError(); desc == "" {
				t.Errorf("%s: no text", name)
			}
		}
		u.quiet()
		u.sendBinary(garbage)
		u.expectFrameError()
		if code := u.closed(); code != websocket.StatusPolicyViolation {
			t.Errorf("%s: closed with %d", name, code)
		}
	}
	b.quiet()
}

func TestFrameBeforeOpen(t *testing.T) {
	w := newWorld(t, nil)
	b := w.enter()
	u := w.dial(true)
	u.name(1, b.url)
	if got := u.next(); got["from"] != framesURL || got["to"] != clientURL {
		t.Errorf("got %v", got)
	}
}

// Once all handles are in use the first is defined anew.
func TestHandlesAreReused(t *testing.T) {
	var s sources
	seats := make([]seat, frame.MaxHandle+10)
	for i := range seats {
		handle, known := s.handle(&seats[i])
		if known || handle != uint64(i%frame.MaxHandle)+1 {
			t.Fatalf("seat %d has handle %d, known %v", i, handle, known)
		}
	}
	if handle, known := s.handle(&seats[10]); !known || handle != 11 {
		t.Errorf("a seat that stays has handle %d, known %v", handle, known)
	}
	if handle, known := s.handle(&seats[0]); known || handle != 11 {
		t.Errorf("a seat that comes back has handle %d, known %v", handle, known)
	}
	if len(s.handles) != frame.MaxHandle {
		t.Errorf("%d handles", len(s.handles))
	}
}

// A client can make the node remember as many runtimes as it has handles, and only while it is here.
func TestHandlesHoldSeats(t *testing.T) {
	w := newWorld(t, nil)
	a := w.enter()
	seats := func(want int) func() bool {
		return func() bool {
			w.node.mu.Lock()
			defer w.node.mu.Unlock()
			return len(w.node.seats) == want
		}
	}
	for i := range 100 {
		a.name(uint64(i%2)+1, fmt.Sprintf("runtime://a.example/%d", i))
	}
	a.name(2, a.url)
	a.quiet()
	if !seats(2)() {
		t.Errorf("seats %v", w.node.seats)
	}
	a.drop()
	w.until("the seats of its handles are given up", seats(1))
	w.clock.pass(time.Hour)
	if !seats(0)() {
		t.Errorf("seats %v", w.node.seats)
	}
}

// What a client sends after the message that closed it is not looked at.
func TestNothingAfterTheLastError(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.CloseLimit = patience })
	a, b := w.enter(), w.enter()
	a.name(1, b.url)
	for range 16 {
		a.sendBinary([]byte{9})
	}
	// The node does not cut the connection before it has the answer to its close, which is only given by reading.
	a.forward(1, "late")
	a.send(`{"id":1,"type":"update","from":"` + a.url + `","to":"` + b.url + `"}`)
	if code := a.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("closed with %d", code)
	}
	b.quiet()
}

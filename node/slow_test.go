package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyroute/hyroute/runtime/frame"
)

// stuffed is a user who does not read, and whose queue at the node is full of frames from another one.
func stuffed(t *testing.T, w *world, from *user) *user {
	u := w.enter()
	stuff(t, from, u)
	return u
}

func stuff(t *testing.T, from, u *user) {
	from.name(1, u.url)
	f := strings.Repeat("x", 32<<10)
	for {
		from.forward(1, f)
		// A question after each frame, so that a NOTICE is seen at once.
		from.send(`{"id":9,"type":"update","from":"` + from.url + `","to":"hyperty://nowhere.example/x"}`)
		p, err := from.read()
		if err != nil {
			t.Fatal(err)
		}
		if !p.binary {
			continue
		}
		e, err := frame.ReadEnvelope(p.bytes)
		if err != nil || e.Kind != frame.KindNotice || e.Reason != frame.NoticeFull || string(e.Frame) != f[:frame.NoticeHead] {
			t.Fatalf("got %+v, %v", e, err)
		}
		from.next()
		return
	}
}

func TestSlowClientGetsNoMoreFrames(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.PingLimit = patience })
	a, other := w.enter(), w.enter()
	slow := stuffed(t, w, a)
	a.name(2, other.url)
	a.forward(2, "others go on")
	other.expectName(1, a.url)
	other.expectForward(1, "others go on")
	// It is not lost: once it reads, frames come through again.
	slow.expectName(1, a.url)
	for range 40 {
		if e := slow.nextEnvelope(); e.Kind != frame.KindForward || e.Handle != 1 {
			t.Fatalf("got %+v", e)
		}
	}
	w.until("the queue has room again", func() bool {
		for c := range clients(w.node) {
			if c.url() == slow.url {
				return c.queue.size.Load() < 900<<10
			}
		}
		return false
	})
	a.forward(1, "welcome back")
	for {
		if e := slow.nextEnvelope(); string(e.Frame) == "welcome back" {
			break
		}
	}
	a.quiet()
}

func clients(n *Node) map[*client]struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[*client]struct{}{}
	for c := range n.clients {
		all[c] = struct{}{}
	}
	return all
}

func TestSlowClientIsClosed(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.PingLimit, c.Limits.CloseLimit = patience, 100*time.Millisecond })
	a, other := w.enter(), w.enter()
	slow := stuffed(t, w, a)
	text := `{"id":9,"type":"update","from":"` + a.url + `","to":"` + slow.url + `","body":{"value":"` + strings.Repeat("x", 512<<10) + `"}}`
	// The queue takes JSON up to a higher mark; then the client is closed, and is nobody.
	for {
		a.send(text)
		a.send(`{"id":10,"type":"update","from":"` + a.url + `","to":"hyperty://nowhere.example/x"}`)
		if answer := a.next(); answer["id"] == float64(9) {
			a.expectCode(answer, 404)
			a.next()
			break
		}
	}
	w.until("the slow client is away", func() bool { return w.away(slow.url) })
	if !strings.Contains(w.log.String(), "client is too slow") {
		t.Error("the log does not say so")
	}
	other.quiet()
}

// Sixteen subscribe, one never reads: it is closed as too slow, and the others get everything in order.
func TestSlowReaderDoesNotStallTheFanOut(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Limits.PingLimit, c.Limits.CloseLimit, c.Limits.Queue = patience, 100*time.Millisecond, 1<<20
	})
	const object, readers, window, messages = "comm://a.example/o/changes", 15, 8, 200
	sender := w.enter()
	slow := w.enter()
	slow.expect(200, sub(slow, object))
	stuff(t, sender, slow)
	got := make(chan error, readers*window)
	for range readers {
		u := w.enter()
		u.expect(200, sub(u, object))
		go func() {
			for i := 0; ; i++ {
				p, err := u.read()
				if err == nil && !strings.HasPrefix(string(p.bytes), fmt.Sprintf(`{"id":%d,`, i)) {
					err = fmt.Errorf("message %d is %.40s", i, p.bytes)
				}
				got <- err
				if err != nil {
					return
				}
			}
		}()
	}
	text := `,"type":"update","from":"` + sender.url + `","to":"` + object + `","body":{"value":"` + strings.Repeat("x", 4<<10) + `"}}`
	for i := range messages {
		sender.send(fmt.Sprintf(`{"id":%d%s`, i, text))
		if i < window {
			continue
		}
		for range readers {
			if err := <-got; err != nil {
				t.Fatal(err)
			}
		}
	}
	for range readers * window {
		if err := <-got; err != nil {
			t.Fatal(err)
		}
	}
	w.until("the slow client is closed", func() bool { return w.away(slow.url) })
	sender.expectNotice(1, frame.NoticeNoRuntime, "")
	sender.quiet()
}

// A slow client that still reads learns why it is closed.
func TestSlowClientLearnsWhy(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Limits.PingLimit, c.Limits.CloseLimit = patience, patience
		c.Limits.Queue = 1 << 20
	})
	a := w.enter()
	slow := stuffed(t, w, a)
	a.send(`{"id":9,"type":"update","from":"` + a.url + `","to":"` + slow.url + `","body":{"value":"` + strings.Repeat("x", 512<<10) + `"}}`)
	a.expectCode(a.next(), 404)
	if code := slow.closed(); code != closeTooSlow {
		t.Errorf("closed with %d", code)
	}
}

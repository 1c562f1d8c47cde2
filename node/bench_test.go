package node

import (
	"context"
	"testing"

	"github.com/coder/websocket"
	"github.com/hyroute/hyroute/runtime/frame"
)

// BenchmarkRelay is the whole way of a session frame through the node, on real sockets of one machine. The two clients
// take their part of the time and of the allocations.
func BenchmarkRelay(b *testing.B) {
	for _, flight := range []struct {
		name   string
		frames int // on their way at once
		size   int
	}{{"one", 1, 200}, {"32", 32, 200}, {"256", 256, 200}, {"8 of 48 KiB", 8, 48 << 10}} {
		b.Run(flight.name, func(b *testing.B) {
			w := newWorld(b, nil)
			from, to := w.enter(), w.enter()
			from.name(1, to.url)
			envelope := append(frame.AppendForward(nil, 1), make([]byte, flight.size)...)
			ctx := context.Background()
			room := make(chan struct{}, flight.frames)
			done := make(chan error, 1)
			b.SetBytes(int64(flight.size))
			b.ReportAllocs()
			b.ResetTimer()
			go func() {
				into := make([]byte, max(512, flight.size/4))
				for got := -1; got < b.N; got++ { // the first is the NAME
					_, r, err := to.conn.Reader(ctx)
					for err == nil {
						_, err = r.Read(into)
					}
					if err.Error() != "EOF" {
						done <- err
						return
					}
					if got >= 0 {
						<-room
					}
				}
				done <- nil
			}()
			for range b.N {
				room <- struct{}{}
				if err := from.conn.Write(ctx, websocket.MessageBinary, envelope); err != nil {
					b.Fatal(err)
				}
			}
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkRelayInside is what the node itself does for a frame: from the envelope read to the queue of its peer, and out of it.
func BenchmarkRelayInside(b *testing.B) {
	from, to := insidePair()
	envelope := append(frame.AppendForward(nil, 1), make([]byte, 200)...)
	var spare []byte
	b.SetBytes(200)
	b.ReportAllocs()
	for b.Loop() {
		from.envelope(envelope)
		spare = drain(to, spare)
	}
}

func TestRelayDoesNotAllocate(t *testing.T) {
	from, to := insidePair()
	envelope := append(frame.AppendForward(nil, 1), make([]byte, 200)...)
	var spare []byte
	if n := testing.AllocsPerRun(1000, func() {
		from.envelope(envelope)
		spare = drain(to, spare)
	}); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// insidePair are two clients without sockets, of whom the first knows the second by handle 1.
func insidePair() (from, to *client) {
	n := &Node{}
	if err := n.config.Limits.fill(); err != nil {
		panic(err)
	}
	make1 := func() *client {
		c := &client{node: n, queue: newQueue(&n.config.Limits), sessions: true}
		s := &session{node: n, seat: &seat{}}
		c.session.Store(s)
		s.seat.client.Store(c)
		return c
	}
	from, to = make1(), make1()
	from.names = []*seat{nil, to.session.Load().seat}
	return from, to
}

func drain(c *client, spare []byte) []byte {
	<-c.queue.wake
	records, _ := c.queue.take(spare)
	c.queue.size.Store(0)
	return records
}

// BenchmarkJSON is the whole way of a small JSON message through the node.
func BenchmarkJSON(b *testing.B) {
	w := newWorld(b, nil)
	from, to := w.enter(), w.enter()
	text := []byte(`{"id":1,"type":"update","from":"` + from.url + `","to":"` + to.url + `","body":{"value":{"hello":"world","list":[1,2,3]}}}`)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if err := from.conn.Write(ctx, websocket.MessageText, text); err != nil {
			b.Fatal(err)
		}
		if _, _, err := to.conn.Read(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

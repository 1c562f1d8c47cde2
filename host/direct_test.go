package host

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// stream is numbered messages from one runtime to another, and what came of them.
type stream struct {
	name     string
	from, to *Runtime
	next     int
	sent     []*Sent
	got      chan *Message
	paths    map[Path]int
	seen     int
	last     time.Time
	gap      time.Duration // the longest between two deliveries
}

func newStream(name string, from, to *Runtime) *stream {
	s := &stream{name: name, from: from, to: to, got: make(chan *Message, 1<<16), paths: map[Path]int{}}
	to.Listen(func(m *Message) { s.got <- m })
	return s
}

func (s *stream) send() {
	s.sent = append(s.sent, s.from.Post(Draft{To: s.to.Address(), Value: s.next}))
	s.next++
}

// take checks the next message that came: every number once, in order.
func (s *stream) take(t *testing.T, m *Message) {
	t.Helper()
	var number int
	if err := m.JSON(&number); err != nil || number != s.seen {
		t.Fatalf("%s: %s came instead of number %d (%v)", s.name, m.Text(), s.seen, err)
	}
	if now := time.Now(); s.seen > 0 {
		s.gap = max(s.gap, now.Sub(s.last))
		s.last = now
	} else {
		s.last = now
	}
	s.seen++
	s.paths[m.Path]++
}

// flow sends both ways, a message each way every two milliseconds, until stop says so; it is asked after each message that came.
func flow(t *testing.T, ctx context.Context, what string, streams []*stream, stop func(m *Message) bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, s := range streams {
				s.send()
			}
		case m := <-streams[0].got:
			streams[0].take(t, m)
			if stop(m) {
				return
			}
		case m := <-streams[1].got:
			streams[1].take(t, m)
			if stop(m) {
				return
			}
		case <-ctx.Done():
			t.Fatalf("%s: not within %v: %d of %d and %d of %d came, by %v and %v", what, limit,
				streams[0].seen, streams[0].next, streams[1].seen, streams[1].next, streams[0].paths, streams[1].paths)
		}
	}
}

// drain waits until everything that was sent has come and is settled.
func drain(t *testing.T, ctx context.Context, streams []*stream) {
	t.Helper()
	for _, s := range streams {
		for s.seen < s.next {
			select {
			case m := <-s.got:
				s.take(t, m)
			case <-ctx.Done():
				t.Fatalf("%s: %d of %d came", s.name, s.seen, s.next)
			}
		}
		for i, sent := range s.sent {
			if _, err := sent.Wait(ctx); err != nil {
				t.Fatalf("%s: number %d: %v", s.name, i, err)
			}
		}
	}
}

// inARow stops when so many messages came by this path on both streams, one after the other.
func inARow(path Path, n int) func(*Message) bool {
	rows := map[string]int{}
	return func(m *Message) bool {
		if rows[m.To]++; m.Path != path {
			rows[m.To] = 0
		}
		if len(rows) < 2 {
			return false
		}
		for _, row := range rows {
			if row < n {
				return false
			}
		}
		return true
	}
}

func TestTrafficMovesToTheDirectPathAndBack(t *testing.T) {
	for _, fault := range []string{"udp vanishes", "connection closed"} {
		t.Run(fault, func(t *testing.T) {
			machines(t, func(t *testing.T, o Options) {
				n := startNode(t)
				ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
				defer cancel()
				var cut atomic.Bool
				var traces [2]traced
				var streams []*stream
				var ends []*Runtime
				for i, name := range []string{"alice", "bob"} {
					o.Name, o.PeerNet, o.Trace = name, newCable(t, &cut), &traces[i]
					ends = append(ends, n.connect(t, o))
				}
				if err := errors.Join(ends[0].Registered(ctx), ends[1].Registered(ctx)); err != nil {
					t.Fatal(err)
				}
				streams = append(streams, newStream("alice to bob", ends[0], ends[1]), newStream("bob to alice", ends[1], ends[0]))
				t.Cleanup(func() { logTraces(t, traces[:]) })

				streams[0].send()
				first := <-streams[0].got
				if streams[0].take(t, first); first.Path != Relay {
					t.Errorf("the first message came by %s", first.Path)
				}
				flow(t, ctx, "to the direct path", streams, inARow(Direct, 50))
				checkStats(t, ctx, ends[0], 1, Direct)
				if fault == "udp vanishes" {
					cut.Store(true)
				} else {
					ends[0].BreakDirect()
				}
				flow(t, ctx, "back to the relay", streams, inARow(Relay, 1))
				cut.Store(false)
				flow(t, ctx, "to the direct path again", streams, inARow(Direct, 50))
				drain(t, ctx, streams)
				checkStats(t, ctx, ends[0], uint64(streams[0].next), Direct)
				for _, s := range streams {
					t.Logf("%s: %d messages, %v, longest gap %v", s.name, s.seen, s.paths, s.gap.Round(time.Millisecond))
					if s.gap > 3*time.Second {
						t.Errorf("%s: nothing came for %v", s.name, s.gap)
					}
				}
			})
		})
	}
}

// checkStats asks a runtime that has talked to one other what it counted.
func checkStats(t *testing.T, ctx context.Context, r *Runtime, least uint64, path Path) {
	t.Helper()
	s, err := r.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Sessions) != 1 || len(s.Peers) != 1 || len(s.Paths) == 0 || s.Dropped > 0 {
		t.Fatalf("%+v", s)
	}
	if x := s.Sessions[0]; x.Path != path || x.Acknowledged < least || x.Peer != s.Peers[0].Peer || x.RTT > 10*time.Second {
		t.Errorf("%+v", x)
	}
	if x := s.Peers[0]; x.Local != "host" || x.BytesSent == 0 || x.BytesReceived == 0 {
		t.Errorf("%+v", x)
	}
	last := Relay
	for _, x := range s.Paths {
		if x.From != last || x.Reason == "" || x.At.After(time.Now()) {
			t.Errorf("%+v, after a path by %s", x, last)
		}
		last = x.To
	}
	if last != path {
		t.Errorf("the log ends by %s: %+v", last, s.Paths)
	}
}

func logTraces(t *testing.T, traces []traced) {
	if !t.Failed() {
		return
	}
	for i := range traces {
		text := traces[i].String()
		if len(text) > 30000 {
			text = text[:10000] + "\n[...]\n" + text[len(text)-20000:]
		}
		t.Logf("end %d:\n%s", i, text)
	}
}

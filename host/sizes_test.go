package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// joined makes two runtimes at a node, and sends until messages go by the path wanted.
func joined(t *testing.T, ctx context.Context, o Options, path Path) (alice, bob *Runtime) {
	t.Helper()
	n := startNode(t)
	o.NoDirect = path == Relay
	o.Name = "alice"
	alice = n.connect(t, o)
	o.Name = "bob"
	bob = n.connect(t, o)
	if err := errors.Join(alice.Registered(ctx), bob.Registered(ctx)); err != nil {
		t.Fatal(err)
	}
	for {
		sent := alice.Post(Draft{To: bob.Address(), Value: "which way?"})
		if m, err := bob.Receive(ctx); err != nil || m.Text() != "which way?" {
			t.Fatal(m, err)
		}
		r, err := sent.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if r.Path == path {
			return alice, bob
		}
	}
}

// paths runs a test on the relay and on a peer connection.
func paths(t *testing.T, test func(t *testing.T, o Options, path Path)) {
	for _, path := range []Path{Relay, Direct} {
		t.Run(string(path), func(t *testing.T) { test(t, Options{}, path) })
	}
}

// TestSizes sends bytes of all sizes, which arrive as they left, and text that is longer in bytes than in characters (known fault 41).
func TestSizes(t *testing.T) {
	paths(t, func(t *testing.T, o Options, path Path) {
		ctx := testContext(t)
		alice, bob := joined(t, ctx, o, path)
		random := rand.NewChaCha8([32]byte{1})
		for _, size := range []int{0, 1, 15_997, 15_998, 15_999, 16_000, 65_536, 190_000, 262_145, 1 << 20, 16 << 20} {
			value := make([]byte, size)
			random.Read(value)
			sent := alice.Post(Draft{To: bob.Address(), Value: value})
			m, err := bob.Receive(ctx)
			if err != nil {
				t.Fatalf("%d bytes: %v", size, err)
			}
			if !m.IsBytes() || !bytes.Equal(m.Bytes(), value) {
				t.Fatalf("%d bytes came as %d others", size, len(m.Bytes()))
			}
			if r, err := sent.Wait(ctx); err != nil || r.Path != path {
				t.Errorf("%d bytes: %+v %v", size, r, err)
			}
		}
		text := strings.Repeat("größer: 日本語 ", 10_000)
		sent := alice.Post(Draft{To: bob.Address(), Value: map[string]string{"text": text}})
		m, err := bob.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := m.Value().(map[string]any); !ok || v["text"] != text {
			t.Error("a long text is not what it was")
		}
		if _, err := sent.Wait(ctx); err != nil {
			t.Error(err)
		}
		var e *Error
		if _, err := alice.Post(Draft{To: bob.Address(), Value: make([]byte, 16<<20+33)}).Wait(ctx); !errors.As(err, &e) || e.Code != TooBig || e.Maybe {
			t.Errorf("more than 16 MiB: %v", err)
		}
	})
}

// TestLaneBesideAFile sends files of 16 MiB in a lane of their own beside a chat of 20 messages a second.
func TestLaneBesideAFile(t *testing.T) {
	paths(t, func(t *testing.T, o Options, path Path) {
		ctx := testContext(t)
		alice, bob := joined(t, ctx, o, path)
		var took []time.Duration
		files := make([]*Sent, 2)
		for i := range files {
			files[i] = alice.Post(Draft{To: bob.Address(), Value: make([]byte, 16<<20), Lane: "files"})
			for range 20 {
				start := time.Now()
				chat := alice.Post(Draft{To: bob.Address(), Value: start.Format(time.RFC3339Nano)})
				for {
					m, err := bob.Receive(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if !m.IsBytes() {
						break
					}
				}
				took = append(took, time.Since(start))
				if _, err := chat.Wait(ctx); err != nil {
					t.Fatal(err)
				}
				<-time.NewTimer(max(0, 50*time.Millisecond-time.Since(start))).C
			}
		}
		bob.Listen(func(*Message) {})
		for _, f := range files {
			if _, err := f.Wait(ctx); err != nil {
				t.Error(err)
			}
		}
		slices.Sort(took)
		t.Logf("%s: median %v, longest %v", path, took[len(took)/2], took[len(took)-1])
		// How long the longest takes depends on what else this machine does; TestChatBesideAFile has it in virtual time.
		if most := took[len(took)*9/10]; most > 500*time.Millisecond {
			t.Errorf("one chat message in ten takes %v and more beside the files", most)
		}
		if _, err := alice.Post(Draft{To: bob.Address(), Value: 1, Lane: strings.Repeat("x", 65)}).Wait(ctx); !errors.Is(err, &Error{Code: BadOption}) {
			t.Errorf("a lane with a long name: %v", err)
		}
	})
}

// TestSlowReaderHoldsBack: a listener that takes one message each 10 ms, and a sender that does not wait. What is accepted arrives, in
// order, the rest is refused at once, and what waits at either end is bounded.
func TestSlowReaderHoldsBack(t *testing.T) {
	paths(t, func(t *testing.T, o Options, path Path) {
		ctx := testContext(t)
		alice, bob := joined(t, ctx, o, path)
		value := strings.Repeat("x", 5000)
		var accepted []int
		var sent []*Sent
		for n := range 6000 {
			sent = append(sent, alice.Post(Draft{To: bob.Address(), Value: fmt.Sprint(n, value), Deadline: limit}))
		}
		// More than the queue and the windows hold: the last ones are refused before anything is taken.
		var e *Error
		if _, err := sent[len(sent)-1].Wait(ctx); !errors.As(err, &e) || e.Code != TooMany || e.Maybe {
			t.Fatalf("the last one: %v", err)
		}
		for n, s := range sent {
			select {
			case <-s.Done():
				if _, err := s.Result(); !errors.As(err, &e) || e.Code != TooMany || e.Maybe {
					t.Fatalf("number %d: %v", n, err)
				}
			default:
				accepted = append(accepted, n)
			}
		}
		if len(accepted) < 500 || len(accepted) > 2000 {
			t.Errorf("%d were accepted; the queue has 4 MiB, and a window is 1 MiB", len(accepted))
		}
		pace := time.NewTicker(time.Millisecond)
		defer pace.Stop()
		for i, n := range accepted {
			if i < 100 {
				<-pace.C
			}
			m, err := bob.Receive(ctx)
			if err != nil {
				t.Fatalf("after %d of %d: %v", i, len(accepted), err)
			}
			if m.Text() != fmt.Sprint(n, value) {
				t.Fatalf("%.10s came, and %d was next", m.Text(), n)
			}
		}
		for _, n := range accepted {
			if r, err := sent[n].Wait(ctx); err != nil || !r.Delivered {
				t.Fatalf("number %d: %v", n, err)
			}
		}
	})
}

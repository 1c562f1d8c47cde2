package host

import (
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/hyroute/hyroute/node"
)

// standing is a Message Node that can be restarted at its address. It keeps nothing.
type standing struct {
	t      *testing.T
	domain string
	listen string
	node   *node.Node
	server *httptest.Server
}

func startStanding(t *testing.T, domain string) *standing {
	s := &standing{t: t, domain: domain, listen: freePort(t)}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *standing) url() string { return "ws://" + s.listen + "/ws" }

func (s *standing) start() {
	s.t.Helper()
	n, err := node.New(node.Config{Domain: s.domain})
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		s.t.Fatal(err)
	}
	s.node, s.server = n, httptest.NewUnstartedServer(n)
	s.server.Listener.Close()
	s.server.Listener = l
	s.server.Start()
}

func (s *standing) stop() {
	s.node.Close()
	s.server.Close()
}

// TestTwoDomains lets runtimes of two domains talk while each of their nodes is restarted once: the other one carries on.
func TestTwoDomains(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		const count = 600
		ctx := testContext(t)
		a, b := startStanding(t, "a.example"), startStanding(t, "b.example")
		o.NoDirect, o.Loopback = true, true
		join := func(home, other *standing, name string) *Runtime {
			mine := o
			mine.Name, mine.Domain, mine.Nodes = name, home.domain, map[string]string{other.domain: other.url()}
			r, err := Connect(ctx, home.url(), mine)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			if err := r.Registered(ctx); err != nil {
				t.Fatal(err)
			}
			return r
		}
		alice, bob := join(a, b, "alice"), join(b, a, "bob")
		var running sync.WaitGroup
		halfway := make(chan struct{}, 2)
		for _, x := range []struct{ from, to *Runtime }{{alice, bob}, {bob, alice}} {
			running.Go(func() {
				last := time.Time{}
				for n := range count {
					m, err := x.to.Receive(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					if m.Text() != fmt.Sprint(n) || m.From != x.from.Address() {
						t.Errorf("%s got %q of %s, and %d was next", x.to.Address(), m.Text(), m.From, n)
						return
					}
					if gap := time.Since(last); n > 0 && gap > 3*time.Second {
						t.Errorf("%s waited %v for message %d", x.to.Address(), gap, n)
					}
					last = time.Now()
					if n == count/6 {
						halfway <- struct{}{}
					}
				}
			})
			running.Go(func() {
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				var sent []*Sent
				for n := range count {
					<-tick.C
					sent = append(sent, x.from.Post(Draft{To: x.to.Address(), Value: fmt.Sprint(n)}))
				}
				for n, s := range sent {
					if r, err := s.Wait(ctx); err != nil || !r.Delivered {
						t.Errorf("message %d to %s: %+v %v", n, x.to.Address(), r, err)
						return
					}
				}
			})
		}
		<-halfway
		<-halfway
		for _, n := range []*standing{a, b} {
			back := nodeBack(t, alice, n.domain)
			n.stop()
			n.start()
			select {
			case <-back:
			case <-ctx.Done():
				t.Fatal("nobody came back to the node of " + n.domain)
			}
		}
		running.Wait()
		if e, err := alice.Explain(ctx, bob.Address()); err != nil || e.Path != Relay {
			t.Errorf("%+v %v", e, err)
		}
	})
}

// nodeBack is closed when the runtime has lost that node and has it again.
func nodeBack(t *testing.T, r *Runtime, domain string) <-chan struct{} {
	back := make(chan struct{})
	events := r.Events(t.Context())
	go func() {
		lost := false
		for e := range events {
			if n, ok := e.(NodeChanged); ok && n.Domain == domain {
				lost = lost || n.Status == "disconnected"
				if lost && n.Status == "live" {
					close(back)
					return
				}
			}
		}
	}()
	return back
}

// TestStrangeDomain refuses what is not configured, at both ends.
func TestStrangeDomain(t *testing.T) {
	ctx := testContext(t)
	a, b := startStanding(t, "a.example"), startStanding(t, "b.example")
	alice, err := Connect(ctx, a.url(), Options{Domain: a.domain, Nodes: map[string]string{b.domain: b.url()}, NoDirect: true})
	if err != nil {
		t.Fatal(err)
	}
	defer alice.Close()
	bob, err := Connect(ctx, b.url(), Options{Domain: b.domain, NoDirect: true})
	if err != nil {
		t.Fatal(err)
	}
	defer bob.Close()
	// Before that the node knows of no such runtime.
	if err := bob.Registered(ctx); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := bob.Post(Draft{To: alice.Address(), Value: 1}).Wait(ctx); !errors.As(err, &e) || e.Code != Refused || e.Maybe {
		t.Errorf("to a domain that is not configured: %v", err)
	}
	// Bob's runtime does not talk to that domain, and so hears nothing of it.
	if _, err := alice.Post(Draft{To: bob.Address(), Value: 1, Deadline: 500 * time.Millisecond}).Wait(ctx); !errors.As(err, &e) || e.Code != Expired {
		t.Errorf("from a domain that the receiver did not configure: %v", err)
	}
}

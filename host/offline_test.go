package host

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/node"
)

// A message waits for a node that is away, and fails with the right word when its time is over.
func TestNodeUnreachable(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		ctx := testContext(t)
		address := freePort(t)
		o.Domain, o.Loopback = testDomain, true
		r, err := Connect(ctx, "ws://"+address+"/ws", o)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if r.Domain() != testDomain {
			t.Errorf("domain %q", r.Domain())
		}
		_, err = r.Post(Draft{To: "hyperty://a.example/bob", Value: 1, Deadline: 100 * time.Millisecond}).Wait(ctx)
		var e *Error
		if !errors.As(err, &e) || e.Code != NoMessageNode || e.Maybe {
			t.Errorf("while the node is away: %v", err)
		}
		// It comes up before the next one's time is over.
		waits := r.Post(Draft{To: "hyperty://a.example/bob", Value: 2})
		n, err := node.New(node.Config{Domain: testDomain})
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(n)
		server.Listener.Close()
		server.Listener = listener
		server.Start()
		defer server.Close()
		defer n.Close()
		o.Name = "bob"
		bob, err := Connect(ctx, "ws://"+address+"/ws", o)
		if err != nil {
			t.Fatal(err)
		}
		defer bob.Close()
		if m, err := bob.Receive(ctx); err != nil || m.Text() != "2" {
			t.Errorf("%v %v", m, err)
		}
		if _, err := waits.Wait(ctx); err != nil {
			t.Errorf("after the node came back: %v", err)
		}
	})
}

// freePort is an address of this machine that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestSocketsThatBreakLoseNothing(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		n := startNode(t)
		ctx := testContext(t)
		var mu sync.Mutex
		var sockets []net.Conn
		o.NoDirect = true
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			if err == nil {
				mu.Lock()
				sockets = append(sockets, c)
				mu.Unlock()
			}
			return c, err
		}
		o.Name = "alice"
		alice := n.connect(t, o)
		o.Name = "bob"
		bob := n.connect(t, o)
		streams := []*stream{newStream("alice to bob", alice, bob), newStream("bob to alice", bob, alice)}
		breaks := 0
		flow(t, ctx, "with sockets that break", streams, func(*Message) bool {
			if seen := streams[0].seen + streams[1].seen; seen/200 > breaks {
				breaks++
				mu.Lock()
				for _, c := range sockets {
					c.Close()
				}
				sockets = nil
				mu.Unlock()
			}
			return breaks == 3
		})
		drain(t, ctx, streams)
	})
}

func TestSecondProgramWithTheSameKeyTakesOver(t *testing.T) {
	n := startNode(t)
	ctx := testContext(t)
	key, err := identity.New()
	if err != nil {
		t.Fatal(err)
	}
	first := n.connect(t, Options{Key: key})
	if err := first.Registered(ctx); err != nil {
		t.Fatal(err)
	}
	away, err := identity.New()
	if err != nil {
		t.Fatal(err)
	}
	absent, err := away.RuntimeURL(testDomain)
	if err != nil {
		t.Fatal(err)
	}
	waits := first.Post(Draft{To: absent.String(), Value: 0})
	events := first.Events(ctx)
	second := n.connect(t, Options{Key: key})
	if err := second.Registered(ctx); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if c, ok := e.(NodeChanged); ok && c.Status == "failed" {
			if c.Reason != "superseded" {
				t.Errorf("%+v", c)
			}
			break
		}
	}
	_, err = waits.Wait(ctx)
	var e *Error
	if !errors.As(err, &e) || e.Code != Superseded || !e.Maybe {
		t.Errorf("what waited in the first one: %v", err)
	}
	for _, to := range []string{absent.String(), "hyperty://a.example/other"} {
		if _, err := first.Post(Draft{To: to, Value: 1}).Wait(ctx); code(err) != Superseded {
			t.Errorf("the first one sends to %s: %v", to, err)
		}
	}
	if second.Address() != first.Address() {
		t.Errorf("%s and %s", second.Address(), first.Address())
	}
}

func TestConnectRefuses(t *testing.T) {
	n := startNode(t)
	ctx := testContext(t)
	plain := httptest.NewServer(nil)
	defer plain.Close()
	for name, test := range map[string]struct {
		url  string
		o    Options
		code Code
	}{
		"other domain":       {n.url, Options{Domain: "b.example"}, BadOption},
		"scheme":             {"ftp://a.example", Options{}, BadOption},
		"no host":            {"ws:///ws", Options{}, BadOption},
		"no URL":             {"ws://%", Options{}, BadOption},
		"name":               {n.url, Options{Domain: testDomain, Name: "a b"}, BadAddress},
		"name of elsewhere?": {n.url, Options{Domain: testDomain, Name: "x://"}, BadAddress},
		"domain":             {"ws://127.0.0.1:9", Options{Domain: "a b"}, BadAddress},
	} {
		r, err := Connect(ctx, test.url, test.o)
		if !errors.Is(err, &Error{Code: test.code}) {
			var e *Error
			if !errors.As(err, &e) || e.Code != test.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err == nil {
			r.Close()
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Connect(cancelled, n.url, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Connect(ctx, n.url, Options{Domain: testDomain, Module: []byte("no module")}); err == nil {
		t.Error("a module that is none was taken")
	}
}

func TestBelongs(t *testing.T) {
	for _, test := range []struct {
		url, domain string
		want        bool
	}{
		{"ws://example.org/ws", "example.org", true},
		{"ws://EXAMPLE.org/ws", "example.org", true},
		{"wss://node.example.org/ws", "example.org", true},
		{"ws://example.org:8080/ws", "example.org:8080", true},
		{"ws://localhost:8080/ws", "anything", true},
		{"ws://[::1]:8080/ws", "anything", true},
		{"ws://10.0.0.1/ws", "anything", true},
		{"ws://evil.example/ws", "example.org", false},
		{"ws://example.org.evil.example/ws", "example.org", false},
		{"ws://notexample.org/ws", "example.org", false},
	} {
		u, err := readURL(test.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := belongs(test.domain, u); got != test.want {
			t.Errorf("%s of %s: %v", test.url, test.domain, got)
		}
	}
	for text, want := range map[string]string{
		"localhost:8080": "ws://localhost:8080/ws", "https://a.example": "wss://a.example/ws", "ws://a.example/other#x": "ws://a.example/other",
	} {
		if u, err := readURL(text); err != nil || u.String() != want {
			t.Errorf("%s: %v %v", text, u, err)
		}
	}
}

func TestWhatCloseLeaves(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		n := startNode(t)
		ctx := testContext(t)
		o.Name = "alice"
		alice := n.connect(t, o)
		o.Name = "bob"
		bob := n.connect(t, o)
		streams := []*stream{newStream("alice to bob", alice, bob), newStream("bob to alice", bob, alice)}
		flow(t, ctx, "to the direct path", streams, inARow(Direct, 5))
		alice.Close()
		bob.Close()
		alice.Close()
		for _, e := range []error{alice.Send(ctx, bob.Address(), 1), func() error { _, err := alice.Receive(ctx); return err }()} {
			if !errors.Is(e, &Error{Code: Closed}) {
				t.Errorf("after Close: %v", e)
			}
		}
		noGoroutines(t, "hyroute/host.", "hyroute/stubs.", "hyroute/p2p.", "pion/")
	})
}

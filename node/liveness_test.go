package node

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// rawUpgrade is a socket that has upgraded and then says nothing at all.
func rawUpgrade(t *testing.T, w *world) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET /ws HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	return conn
}

func TestSilentClientIsPinged(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.PingEvery, c.Limits.PingLimit = 5*time.Millisecond, 50*time.Millisecond })
	conn := rawUpgrade(t, w)
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := got.ReadFrom(conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("the socket stays open: %v", err)
	}
	if !bytes.Contains(got.Bytes(), []byte{0x89}) {
		t.Errorf("no ping in %q", got.Bytes())
	}
	w.until("the client is gone", func() bool { return len(clients(w.node)) == 0 })
}

func TestClientThatAnswersPingsStays(t *testing.T) {
	pings := make(chan struct{}, 1)
	w := newWorld(t, func(c *Config) {
		c.AllowUnsigned = true
		c.Limits.PingEvery, c.Limits.PingLimit = 5*time.Millisecond, patience
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, w.url(), &websocket.DialOptions{OnPingReceived: func(context.Context, []byte) bool {
		select {
		case pings <- struct{}{}:
		default:
		}
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	url := "runtime://a.example/legacy"
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"id":1,"type":"open","from":"`+url+`","to":"mn:/session"}`)); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, _, err := conn.Read(ctx) // the answer
		if err == nil {
			_, _, err = conn.Read(ctx) // only pings come now
		}
		read <- err
	}()
	for range 5 {
		select {
		case <-pings:
		case err := <-read:
			t.Fatal(err)
		}
	}
	if w.away(url) {
		t.Error("the client is gone")
	}
}

func TestClientThatOpensNothing(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.OpenLimit = 5 * time.Millisecond })
	u := w.dial(true)
	if code := u.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("closed with %d", code)
	}
	// A client that has opened outlasts the limit.
	w = newWorld(t, func(c *Config) { c.Limits.OpenLimit = time.Second })
	u, other := w.enter(), w.dial(true)
	other.closed()
	u.quiet()
}

func TestCloseEndsEverything(t *testing.T) {
	before := runtime.NumGoroutine()
	w := newWorld(t, func(c *Config) { c.Limits.CloseLimit = 100 * time.Millisecond })
	users := []*user{w.enter(), w.enter(), w.dial(true)}
	rawUpgrade(t, w)
	w.until("all are in", func() bool { return len(clients(w.node)) == 4 })
	users[0].drop()
	for _, u := range users[1:] {
		go func() {
			for {
				if _, err := u.read(); err != nil {
					return
				}
			}
		}()
	}
	w.node.Close()
	w.node.Close()
	if n := w.clock.running(); n != 0 {
		t.Errorf("%d timers run", n)
	}
	response := w.get("/ws")
	if response.StatusCode != 503 {
		t.Errorf("a socket after Close gets %d", response.StatusCode)
	}
	w.server.Close()
	for _, u := range users {
		u.conn.CloseNow()
	}
	w.until("no goroutine is left", func() bool { return runtime.NumGoroutine() <= before+2 })
}

func TestTooManyClients(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Clients = 2 })
	w.enter()
	a := w.enter()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, w.url(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
		t.Errorf("the third is closed with %v", err)
	}
	a.drop()
	w.until("there is room", func() bool { return len(clients(w.node)) == 1 })
	w.enter()
}

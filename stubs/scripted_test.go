package stubs

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/message"
)

const testDomain = "a.example"

// scripted is a node that does what a test says: a real WebSocket server on a pipe, so that a test can be in virtual time and
// see what no well-behaved node would send.
type scripted struct {
	t           *testing.T
	accepted    chan net.Conn
	over        chan struct{}
	closed      chan struct{}
	close       sync.Once
	server      http.Server
	subprotocol string
	serve       func(*peer)
}

// peer is one connection of a scripted node.
type peer struct {
	t     *testing.T
	conn  *websocket.Conn
	nonce string
	over  chan struct{} // closed when the test ends
}

func newScripted(t *testing.T, serve func(*peer)) *scripted {
	s := &scripted{t: t, accepted: make(chan net.Conn), closed: make(chan struct{}), over: make(chan struct{}), subprotocol: Subprotocol, serve: serve}
	s.server.Handler = s
	go s.server.Serve(s)
	t.Cleanup(func() {
		close(s.over)
		s.server.Close()
	})
	return s
}

func (s *scripted) Accept() (net.Conn, error) {
	select {
	case c := <-s.accepted:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *scripted) Close() error {
	s.close.Do(func() { close(s.closed) })
	return nil
}

func (s *scripted) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (s *scripted) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case s.accepted <- far:
		return near, nil
	case <-s.closed:
	case <-ctx.Done():
	}
	return nil, fmt.Errorf("no node here")
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{s.subprotocol}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(MaxMessage)
	s.serve(&peer{t: s.t, conn: conn, nonce: identity.Nonce(), over: s.over})
}

// stub makes a stub of this node, and a channel of what it reports.
func (s *scripted) stub() (*Node, chan Event) {
	key, err := identity.New()
	if err != nil {
		s.t.Fatal(err)
	}
	runtime, err := key.RuntimeURL(testDomain)
	if err != nil {
		s.t.Fatal(err)
	}
	events := make(chan Event, 4096)
	n := NewNode(NodeConfig{
		URL: "ws://node/ws", Domain: testDomain, Runtime: runtime, Key: key, Dial: s.dial,
		Sink: func(e Event) { events <- e },
	}, nil)
	s.t.Cleanup(func() {
		n.Close()
		<-n.Done()
	})
	return n, events
}

func (p *peer) write(e message.Envelope) {
	if err := p.conn.Write(context.Background(), websocket.MessageText, e.Append(nil)); err != nil {
		p.t.Logf("scripted node: %v", err)
	}
}

func (p *peer) say(id uint64, kind message.Type, from, to, body string) {
	p.write(message.Envelope{ID: id, Type: kind, From: from, To: to, Body: []byte(body)})
}

func (p *peer) handshake(domain string) {
	body, _ := json.Marshal(map[string]string{"nonce": p.nonce, "domain": domain})
	p.say(0, message.Handshake, "mn:/session", "mn:/client", string(body))
}

// read gives the next JSON message, or ok false when the connection is over.
func (p *peer) read() (e message.Envelope, ok bool) {
	kind, text, err := p.conn.Read(context.Background())
	if err != nil {
		return e, false
	}
	if kind != websocket.MessageText {
		p.t.Errorf("scripted node: a binary message came: %x", text)
		return e, false
	}
	e, err = message.Parse(text)
	if err != nil {
		p.t.Errorf("scripted node: %v: %s", err, text)
		return e, false
	}
	return e, true
}

// open answers an open with this body.
func (p *peer) open(body string) bool {
	e, ok := p.read()
	if ok {
		p.say(e.ID, message.Response, "mn:/session", e.From, body)
	}
	return ok
}

// drain reads until the stub goes.
func (p *peer) drain() {
	for {
		if _, _, err := p.conn.Read(context.Background()); err != nil {
			return
		}
	}
}

// next takes events until one of type E comes.
func next[E Event](t *testing.T, events chan Event) E {
	t.Helper()
	for e := range events {
		if e, ok := e.(E); ok {
			return e
		}
	}
	panic("unreachable: the channel is never closed")
}

// status takes events until the stub changed to s.
func status(t *testing.T, events chan Event, s Status) Changed {
	t.Helper()
	for {
		c := next[Changed](t, events)
		if c.Status == s {
			return c
		}
		if c.Status > InProgress {
			t.Fatalf("%v %q (%v), wanted %v", c.Status, c.Reason, c.Err, s)
		}
	}
}

package stubs_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/node"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
	"github.com/hyroute/hyroute/stubs/stubtest"
)

// relay passes frames on between the runtimes that opened, and does nothing else: the suite is about the stub, and must be
// able to stop reading, which no node does.
type relay struct {
	mu     sync.Mutex
	peers  map[string]*websocket.Conn
	frozen chan struct{} // closed: nothing more is read
	over   chan struct{}
}

func (r *relay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	conn, err := websocket.Accept(w, request, &websocket.AcceptOptions{Subprotocols: []string{stubs.Subprotocol}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(stubs.MaxMessage)
	ctx := request.Context()
	hello := message.Envelope{Type: message.Handshake, From: "mn:/session", To: "mn:/client", Body: []byte(`{"nonce":"` + identity.Nonce() + `","domain":"a.example"}`)}
	conn.Write(ctx, websocket.MessageText, hello.Append(nil))
	var self string
	names := map[uint64]string{}
	for {
		select {
		case <-r.frozen:
			<-r.over
			return
		default:
		}
		kind, b, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageText {
			e, err := message.Parse(b)
			switch {
			case err != nil:
				return
			case e.Type == message.Close:
				conn.Close(4000, "closed by client")
				return
			case e.Type == message.Open:
				self = e.From
				r.mu.Lock()
				r.peers[self] = conn
				r.mu.Unlock()
				answer := message.Envelope{ID: e.ID, Type: message.Response, From: "mn:/session", To: self, Body: []byte(`{"code":200,"runtimeToken":"t"}`)}
				conn.Write(ctx, websocket.MessageText, answer.Append(nil))
			}
			continue
		}
		e, err := frame.ReadEnvelope(b)
		if err != nil {
			return
		}
		if e.Kind == frame.KindName {
			names[e.Handle] = e.Runtime
			continue
		}
		r.mu.Lock()
		to := r.peers[names[e.Handle]]
		r.mu.Unlock()
		if to != nil {
			to.Write(ctx, websocket.MessageBinary, append(frame.AppendForward(nil, 1), e.Frame...))
		}
	}
}

func TestNodeStubConforms(t *testing.T) {
	stubtest.TestStub(t, func(t *testing.T, a, b func(stubs.Event)) stubtest.Pair {
		r := &relay{peers: map[string]*websocket.Conn{}, frozen: make(chan struct{}), over: make(chan struct{})}
		p := join(t, r, a, b)
		t.Cleanup(func() { close(r.over) })
		p.Unread = func() { close(r.frozen) }
		return p
	})
}

func TestNodeStubConformsAtARealNode(t *testing.T) {
	stubtest.TestStub(t, func(t *testing.T, a, b func(stubs.Event)) stubtest.Pair {
		// The suite sends more than a machine would, to see the marks.
		n, err := node.New(node.Config{Domain: "a.example", Limits: node.Limits{FrameQueue: 64 << 20, Queue: 128 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		return join(t, n, a, b)
	})
}

// join makes two stubs at a node.
func join(t *testing.T, handler http.Handler, a, b func(stubs.Event)) stubtest.Pair {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	var sockets []net.Conn
	open := func(sink func(stubs.Event)) (*stubs.Node, address.Address) {
		key, err := identity.New()
		if err != nil {
			t.Fatal(err)
		}
		runtime, err := key.RuntimeURL("a.example")
		if err != nil {
			t.Fatal(err)
		}
		live := make(chan struct{})
		n := stubs.NewNode(stubs.NodeConfig{
			URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/ws", Domain: "a.example", Runtime: runtime, Key: key,
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				sockets = append(sockets, conn)
				return conn, err
			},
			Sink: func(e stubs.Event) {
				sink(e)
				if _, ok := e.(stubs.Opened); ok {
					close(live)
				}
			},
		}, nil)
		n.Connect()
		<-live
		return n, runtime
	}
	stubA, runtimeA := open(a)
	stubB, runtimeB := open(b)
	if err := stubA.Name(3, runtimeB); err != nil {
		t.Fatal(err)
	}
	if err := stubB.Name(4, runtimeA); err != nil {
		t.Fatal(err)
	}
	return stubtest.Pair{
		A: stubA, B: stubB, ToB: 3, ToA: 4,
		Lose:     func() { sockets[0].Close() },
		Packages: []string{"hyroute/stubs."},
	}
}

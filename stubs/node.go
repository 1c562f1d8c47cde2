package stubs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/message"
)

// goodbye is how long Close waits for what is queued, and for the node to close the socket.
const goodbye = time.Second

// NodeConfig is what a node stub starts from.
type NodeConfig struct {
	URL     string          // ws:// or wss:// of the node
	Domain  string          // that the node must be of
	Runtime address.Address // own runtime URL
	Key     *identity.Key   // that Runtime names
	Dial    DialFunc        // nil: the system's
	Sink    func(Event)     // gets all events
}

// Node is the stub of one domain's Message Node.
type Node struct {
	config NodeConfig
	done   chan struct{}
	cancel context.CancelFunc // of all attempts
	ctx    context.Context

	mu      sync.Mutex
	running sync.WaitGroup
	closed  bool
	told    bool    // that it was created
	busy    bool    // an attempt or a connection is under way
	again   bool    // it is to be followed by another one at once
	drop    func()  // ends it
	first   *Socket // made before the stub
	token   string  // of the last open
	link    *link   // nil: not live
}

// NewNode makes a stub that is not connected. first, if it is not nil, is a socket to the same node that Connect uses instead
// of dialling the first time.
func NewNode(c NodeConfig, first *Socket) *Node {
	n := &Node{config: c, first: first, done: make(chan struct{})}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n
}

// Connect makes one attempt; one that is under way, or a connection that is there, ends without a word. What comes of it is reported
// as Changed: created the first time, in-progress, then live, disconnected (another attempt may succeed) or failed (none will).
func (n *Node) Connect() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	if n.busy {
		n.again = true
		n.drop()
		return
	}
	n.busy = true
	ctx := n.attempt()
	n.running.Go(func() { n.run(ctx) })
}

// Close tells the node that this runtime goes away, and ends the stub.
func (n *Node) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.closed = true
	if n.first != nil {
		n.running.Go(n.first.Close)
		n.first = nil
	}
	if l := n.link; l != nil {
		n.link = nil
		n.running.Go(l.bye)
	} else {
		n.cancel()
	}
	go func() {
		n.running.Wait()
		n.cancel()
		close(n.done)
	}()
}

// Done is closed when nothing of the stub is left after Close.
func (n *Node) Done() <-chan struct{} { return n.done }

// emit reports an event, unless the stub was closed.
func (n *Node) emit(e Event) {
	n.mu.Lock()
	closed := n.closed
	n.mu.Unlock()
	if !closed {
		n.config.Sink(e)
	}
}

// attempt begins an attempt: what ends it, and what it does, come with it. The lock is held.
func (n *Node) attempt() context.Context {
	ctx, drop := context.WithCancel(n.ctx)
	n.drop, n.again = drop, false
	return ctx
}

// run makes attempts until one is not to be followed by another at once.
func (n *Node) run(ctx context.Context) {
	n.mu.Lock()
	told := n.told
	n.told = true
	n.mu.Unlock()
	if !told {
		n.emit(Changed{Status: Created})
	}
	for {
		n.emit(Changed{Status: InProgress})
		change := n.connect(ctx)
		n.mu.Lock()
		n.drop()
		again := n.again
		if n.busy = again; again {
			ctx = n.attempt()
		}
		n.mu.Unlock()
		if !again {
			n.emit(change)
			return
		}
	}
}

// connect returns when the connection is over, or there was none.
func (n *Node) connect(ctx context.Context) Changed {
	n.mu.Lock()
	s := n.first
	n.first = nil
	n.mu.Unlock()
	if s == nil {
		var err error
		if s, err = Dial(ctx, n.config.URL, n.config.Dial); err != nil {
			return dialFailed(err)
		}
	}
	defer s.Close()
	if s.domain != n.config.Domain {
		err := fmt.Errorf("stubs: %s is the node of %q, not of %q", n.config.URL, s.domain, n.config.Domain)
		return Changed{Status: Failed, Reason: "wrong-domain", Err: err}
	}
	l := newLink(n, s)
	return l.run(ctx)
}

func dialFailed(err error) Changed {
	switch {
	case errors.Is(err, ErrUnsupportedNode):
		return Changed{Status: Failed, Reason: "unsupported-node", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return Changed{Status: Disconnected, Reason: "timed-out", Err: err}
	}
	return Changed{Status: Disconnected, Reason: "unreachable", Err: err}
}

// Transmit sends a session frame in a FORWARD to the runtime that handle was given to by Name.
func (n *Node) Transmit(handle uint64, pieces ...[]byte) error {
	var space [16]byte
	var list [8][]byte
	envelope := append(list[:0], frame.AppendForward(space[:0], handle))
	envelope = append(envelope, pieces...)
	if size := lengths(pieces); size > MaxFrame {
		return fmt.Errorf("%w: a frame of %d bytes", ErrTooBig, size)
	}
	return n.put(websocket.MessageBinary, envelope...)
}

// Name defines handle, 1 to 4095, for this connection.
func (n *Node) Name(handle uint64, runtime address.Address) error {
	return n.put(websocket.MessageBinary, frame.AppendName(nil, handle, runtime.String()))
}

// Send sends a JSON message. Its answer, if one comes, is a Received.
func (n *Node) Send(e message.Envelope) error {
	text := e.Append(nil)
	if len(text) > MaxMessage {
		return fmt.Errorf("%w: a message of %d bytes", ErrTooBig, len(text))
	}
	return n.put(websocket.MessageText, text)
}

func (n *Node) put(kind websocket.MessageType, pieces ...[]byte) error {
	l := n.current()
	if l == nil {
		return ErrNotLive
	}
	return l.queue.put(kind, pieces...)
}

func (n *Node) current() *link {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.link
}

func lengths(pieces [][]byte) int {
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	return size
}

// proof is the body of open and re-open on a socket.
func (n *Node) proof(s *Socket) ([]byte, error) {
	p, err := n.config.Key.ProveOpen(s.nonce, n.config.Runtime, n.config.Domain)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Key       string `json:"key"`
		Signature string `json:"signature"`
		Nonce     string `json:"nonce"`
	}{p.Key, p.Signature, p.Nonce})
}

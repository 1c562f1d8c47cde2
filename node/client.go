package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/message"
)

// Subprotocol is the WebSocket subprotocol of clients that speak sessions.
const Subprotocol = "hyroute.1"

// Close codes.
const (
	closeGoingAway  = websocket.StatusGoingAway
	closeNotUTF8    = websocket.StatusInvalidFramePayloadData
	closeErrors     = websocket.StatusPolicyViolation
	closeTooBig     = websocket.StatusMessageTooBig
	closeByClient   = websocket.StatusCode(4000)
	closeReplaced   = websocket.StatusCode(4001)
	closeTooSlow    = websocket.StatusCode(4002)
	reasonByClient  = "closed by client"
	reasonReplaced  = "replaced"
	reasonTooSlow   = "too slow"
	reasonNotUTF8   = "text is not UTF-8"
	reasonTooBig    = "message too big"
	reasonTooManyEr = "too many errors"
	reasonNotOpen   = "nothing was opened"
)

const (
	inKept    = 16 << 10 // memory that a client keeps for what it reads
	inAtFirst = 1 << 10
	inLarge   = 68 << 10 // memory for what is larger, up to any FORWARD, which clients lend from each other
)

var large = sync.Pool{New: func() any { return new([inLarge]byte) }}

// A client is one socket. One goroutine reads it and does what it asks for; another one writes.
type client struct {
	node     *Node
	conn     *websocket.Conn
	outlet   *outlet
	queue    *queue
	sessions bool // speaks sessions
	nonce    string

	heard    atomic.Bool // something came since the last tick
	farewell atomic.Pointer[farewell]
	told     atomic.Pointer[toldICE]
	session  atomic.Pointer[session] // set by the reading goroutine alone; nil: nothing is open

	// Only the reading goroutine touches the following.
	in     []byte
	own    []byte         // memory for in
	lent   *[inLarge]byte // where in is, if that is not enough
	out    []byte
	names  []*seat // by handle
	errors int
}

// farewell is how a socket ends that the node closes.
type farewell struct {
	code   websocket.StatusCode
	reason string
	force  *time.Timer
}

func (n *Node) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !n.enter() {
		http.Error(w, "the node goes away", http.StatusServiceUnavailable)
		return
	}
	defer n.group.Done()
	hijacker := &uncorkable{ResponseWriter: w, limit: n.config.Limits.PingLimit}
	conn, err := websocket.Accept(hijacker, r, &websocket.AcceptOptions{
		Subprotocols:       []string{Subprotocol},
		InsecureSkipVerify: len(n.config.Origins) == 0, // see Config.Origins
		OriginPatterns:     n.config.Origins,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		n.config.Logger.Debug("socket refused", "remote", r.RemoteAddr, "error", err)
		return
	}
	conn.SetReadLimit(int64(n.config.Limits.Message))
	c := &client{
		node: n, conn: conn, outlet: hijacker.outlet, queue: newQueue(&n.config.Limits),
		sessions: conn.Subprotocol() == Subprotocol, nonce: identity.Nonce(),
	}
	if !n.admit(c) {
		conn.Close(websocket.StatusTryAgainLater, "too many clients")
		return
	}
	c.serve()
}

// admit takes a client in, if there is room.
func (n *Node) admit(c *client) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || len(n.clients) >= n.config.Limits.Clients {
		return false
	}
	n.clients[c] = struct{}{}
	return true
}

func (c *client) serve() {
	if c.sessions {
		c.handshake()
	}
	idle := time.AfterFunc(c.node.config.Limits.OpenLimit, func() {
		if c.session.Load() == nil {
			c.finish(closeErrors, reasonNotOpen)
		}
	})
	defer idle.Stop()
	var writer sync.WaitGroup
	writer.Go(c.write)
	err := c.read()
	c.node.detach(c)
	if errors.Is(err, websocket.ErrMessageTooBig) {
		// Closing without reading on would reset the connection, and the close code would be lost.
		c.finish(closeTooBig, reasonTooBig)
	} else if c.farewell.Load() == nil {
		c.queue.end(true)
		c.outlet.Close()
	}
	writer.Wait()
	c.conn.CloseNow()
	if f := c.farewell.Load(); f != nil {
		f.force.Stop()
	}
	for handle, s := range c.names {
		c.node.leave(s, c, uint64(handle))
	}
	c.node.mu.Lock()
	delete(c.node.clients, c)
	c.node.mu.Unlock()
	c.node.config.Logger.Debug("socket ended", "runtime", c.url(), "error", err)
}

// read does what the client asks for until the socket ends.
func (c *client) read() error {
	for {
		kind, err := c.receive()
		if err != nil {
			return err
		}
		if c.farewell.Load() != nil {
			continue
		}
		if !c.heard.Load() {
			c.heard.Store(true)
		}
		switch {
		case kind == websocket.MessageBinary:
			c.envelope(c.in)
		case !utf8.Valid(c.in):
			c.finish(closeNotUTF8, reasonNotUTF8)
		default:
			c.text(c.in)
		}
	}
}

// receive reads one message into c.in. While it waits for one it holds little memory, however large the last one was.
func (c *client) receive() (websocket.MessageType, error) {
	much := len(c.in) > inKept // so the next one may be as well
	c.giveBack()
	kind, r, err := c.conn.Reader(context.Background())
	if err != nil {
		return 0, err
	}
	if much {
		c.lend()
	}
	for {
		if len(c.in) == cap(c.in) {
			if cap(c.in) >= inKept && c.lent == nil {
				c.lend()
			} else {
				c.in = slices.Grow(c.in, 3*len(c.in))
			}
		}
		n, err := r.Read(c.in[len(c.in):cap(c.in)])
		c.in = c.in[:len(c.in)+n]
		if err == io.EOF {
			return kind, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// lend moves c.in to memory that is lent.
func (c *client) lend() {
	c.own, c.lent = c.in, large.Get().(*[inLarge]byte)
	c.in = append(c.lent[:0], c.in...)
}

// giveBack ends the use of c.in.
func (c *client) giveBack() {
	if c.lent != nil {
		large.Put(c.lent)
		c.in, c.lent = c.own, nil
	}
	if c.in == nil {
		c.in = make([]byte, 0, inAtFirst)
	}
	c.in = c.in[:0]
}

// write writes what comes into the queue until the queue ends, and pings a client that is silent.
func (c *client) write() {
	tick := time.NewTicker(c.node.config.Limits.PingEvery)
	defer tick.Stop()
	var pings sync.WaitGroup
	defer pings.Wait()
	var spare []byte
	for more := true; more; {
		select {
		case <-tick.C:
			if !c.heard.Swap(false) {
				pings.Go(c.ping)
			}
			c.renewICE()
			spare = nil
			c.queue.relax()
			continue
		case <-c.queue.wake:
		}
		var records []byte
		records, more = c.queue.take(spare)
		if err := c.writeAll(records); err != nil {
			c.queue.end(true)
			c.outlet.Close()
			return
		}
		spare = records
	}
	if f := c.farewell.Load(); f != nil {
		c.conn.Close(f.code, f.reason)
	}
}

func (c *client) writeAll(records []byte) error {
	c.outlet.cork()
	for len(records) > 0 {
		kind, payload, rest := next(records)
		if err := c.conn.Write(context.Background(), kind, payload); err != nil {
			return err
		}
		c.queue.size.Add(int64(len(rest) - len(records)))
		records = rest
	}
	return c.outlet.uncork()
}

// ping ends the socket if the client does not answer. A client that is out of reach would not answer a close either.
func (c *client) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), c.node.config.Limits.PingLimit)
	defer cancel()
	if err := c.conn.Ping(ctx); err != nil {
		c.outlet.Close()
	}
}

// finish writes what waits, then closes the socket with a code. What the client still sends is not looked at. It does not wait.
func (c *client) finish(code websocket.StatusCode, reason string) {
	f := &farewell{code: code, reason: reason, force: time.AfterFunc(c.node.config.Limits.CloseLimit, func() { c.outlet.Close() })}
	if !c.farewell.CompareAndSwap(nil, f) {
		f.force.Stop()
		return
	}
	c.queue.end(code == closeTooSlow)
}

// send puts a message into the client's queue, and says whether it is there.
func (c *client) send(text []byte) bool {
	switch c.queue.text(text) {
	case taken:
		return true
	case full:
		c.node.config.Logger.Info("client is too slow", "runtime", c.url())
		c.finish(closeTooSlow, reasonTooSlow)
	}
	return false
}

// post sends an envelope of the node's own to the client.
func (c *client) post(e message.Envelope) {
	c.send(e.Append(nil))
}

// url is the URL of the client's runtime, or empty.
func (c *client) url() string {
	if s := c.session.Load(); s != nil {
		return s.seat.url.String()
	}
	return ""
}

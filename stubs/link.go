package stubs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/runtime/message"
)

// The close codes of a node (docs/protocol.md section 2).
const (
	closeReplaced = 4001
	closeTooSlow  = 4002
)

// openID is the id of the open on a socket; jobs count on from the re-open after it.
const (
	reopenID = 1
	openID   = 2
	firstID  = 3
)

// link is one connection of a node stub.
type link struct {
	node   *Node
	socket *Socket
	queue  *queue
	asked  questions
	proof  []byte
	opened bool     // the node answered 200
	over   *Changed // what ended the connection, if this side did
	ended  chan struct{}
}

func newLink(n *Node, s *Socket) *link {
	return &link{node: n, socket: s, queue: newQueue(n.emitMark), ended: make(chan struct{})}
}

// emitMark reports Blocked and Writable, which come under the lock of a queue.
func (n *Node) emitMark(e Event) { n.config.Sink(e) }

// run opens the runtime at the node and reads until the connection is over.
func (l *link) run(ctx context.Context) Changed {
	defer close(l.ended)
	var err error
	if l.proof, err = l.node.proof(l.socket); err != nil {
		return Changed{Status: Failed, Reason: "bad-proof", Err: err}
	}
	stop := context.AfterFunc(ctx, l.socket.Close)
	defer stop()
	l.node.running.Go(func() {
		if err := l.queue.run(l.socket); err != nil {
			l.socket.Close()
		}
	})
	defer l.queue.kill()
	l.node.mu.Lock()
	token := l.node.token
	l.node.mu.Unlock()
	if token == "" {
		err = l.open()
	} else {
		err = l.reopen(token)
	}
	if err == nil {
		err = l.read()
	}
	l.node.mu.Lock()
	if l.node.link == l {
		l.node.link = nil
	}
	l.node.mu.Unlock()
	if l.over != nil {
		return *l.over
	}
	return lost(err)
}

// open sends the open and is live at once: all that follows on this socket is taken in order behind it.
func (l *link) open() error {
	runtime := l.node.config.Runtime.String()
	e := message.Envelope{ID: openID, Type: message.Open, From: runtime, To: "mn:/session", Body: l.proof}
	if err := l.queue.put(websocket.MessageText, e.Append(nil)); err != nil {
		return err
	}
	l.live(false)
	return nil
}

// reopen sends the re-open. What follows waits for the answer: behind a re-open that is refused it would be lost, and the
// node would close the socket over it.
func (l *link) reopen(token string) error {
	from := l.node.config.Runtime.String() + "/" + token
	e := message.Envelope{ID: reopenID, Type: message.ReOpen, From: from, To: "mn:/session", Body: l.proof}
	if err := l.queue.put(websocket.MessageText, e.Append(nil)); err != nil {
		return err
	}
	timeout := time.AfterFunc(attemptTime, l.socket.Close)
	defer timeout.Stop()
	for {
		kind, text, err := l.socket.conn.Read(context.Background())
		if err != nil {
			return err
		}
		if kind != websocket.MessageText {
			continue
		}
		if e, err := message.Parse(text); err == nil && e.Type == message.Response && e.ID == reopenID {
			return l.reopened(e.Body)
		}
	}
}

func (l *link) reopened(body []byte) error {
	if code, _ := answerCode(body); code != 200 {
		l.node.mu.Lock()
		l.node.token = ""
		l.node.mu.Unlock()
		return l.open()
	}
	l.opened = true
	l.live(true)
	l.renewed(body)
	return nil
}

func (l *link) live(resumed bool) {
	l.node.mu.Lock()
	if l.node.closed {
		l.node.mu.Unlock()
		l.socket.Close()
		return
	}
	l.node.link = l
	l.node.mu.Unlock()
	l.node.emit(Changed{Status: Live, Resumed: resumed})
}

// read reports what comes in until the connection is over.
func (l *link) read() error {
	var scratch []byte
	for l.over == nil {
		kind, r, err := l.socket.conn.Reader(context.Background())
		if err != nil {
			return err
		}
		if scratch, err = readAll(r, scratch[:0]); err != nil {
			return err
		}
		if kind == websocket.MessageBinary {
			l.binary(scratch)
		} else {
			l.text(scratch)
		}
	}
	return nil
}

func readAll(r io.Reader, b []byte) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// openAnswered takes the answer to open.
func (l *link) openAnswered(body []byte) {
	code, desc := answerCode(body)
	if code == 200 {
		l.opened = true
		var taken struct {
			RuntimeToken string `json:"runtimeToken"`
		}
		if json.Unmarshal(body, &taken) != nil {
			taken.RuntimeToken = ""
		}
		servers, _ := readServers(body)
		l.node.mu.Lock()
		l.node.token = taken.RuntimeToken
		l.node.mu.Unlock()
		l.node.emit(Opened{ICEServers: servers})
		return
	}
	err := fmt.Errorf("stubs: the node of %s refused the open: %d %s", l.node.config.Domain, code, desc)
	l.over = &Changed{Status: Failed, Err: err}
	switch code {
	case 400:
		l.over.Reason = "malformed"
	case 401:
		l.over.Reason = "unauthorized"
	case 403:
		l.over.Reason = "forbidden"
	case 409:
		l.over.Reason = "taken"
	default:
		l.over.Status, l.over.Reason = Disconnected, "refused"
	}
}

// lost says what an error of the socket means.
func lost(err error) Changed {
	c := Changed{Status: Disconnected, Reason: "lost", Err: err}
	switch code := websocket.CloseStatus(err); {
	case code == closeReplaced:
		c.Status, c.Reason = Failed, "superseded"
	case code == closeTooSlow:
		c.Reason = "too-slow"
	case code == websocket.StatusMessageTooBig, errors.Is(err, websocket.ErrMessageTooBig):
		c.Reason = "too-big"
	case code == websocket.StatusGoingAway:
		c.Reason = "node-closed"
	}
	return c
}

// bye tells the node that this runtime goes, lets what is queued leave, and waits until the node closed the socket.
func (l *link) bye() {
	e := message.Envelope{ID: firstID, Type: message.Close, From: l.node.config.Runtime.String(), To: "mn:/session"}
	timeout := time.AfterFunc(goodbye, l.node.cancel)
	defer timeout.Stop()
	if l.queue.put(websocket.MessageText, e.Append(nil)) != nil {
		l.node.cancel()
	}
	l.queue.finish()
	<-l.ended
}

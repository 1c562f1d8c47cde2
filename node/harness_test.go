package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

const domain = "a.example"

// patience is how long a test waits for what must come. It is no measure of anything.
const patience = 20 * time.Second

// testClock is a clock that tests turn on.
type testClock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*testTimer]struct{}
}

type testTimer struct {
	at time.Time
	f  func()
}

func newTestClock() *testClock {
	return &testClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), timers: map[*testTimer]struct{}{}}
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &testTimer{at: c.now.Add(d), f: f}
	c.timers[t] = struct{}{}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, ok := c.timers[t]
		delete(c.timers, t)
		return ok
	}
}

// pass lets time pass, and runs what is due, in order.
func (c *testClock) pass(d time.Duration) {
	c.mu.Lock()
	until := c.now.Add(d)
	for {
		var first *testTimer
		for t := range c.timers {
			if !t.at.After(until) && (first == nil || t.at.Before(first.at)) {
				first = t
			}
		}
		if first == nil {
			break
		}
		delete(c.timers, first)
		if first.at.After(c.now) {
			c.now = first.at
		}
		c.mu.Unlock()
		first.f()
		c.mu.Lock()
	}
	c.now = until
	c.mu.Unlock()
}

func (c *testClock) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// world is a node on a real socket of 127.0.0.1.
type world struct {
	t      testing.TB
	node   *Node
	clock  *testClock
	server *httptest.Server
	log    *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWorld(t testing.TB, change func(*Config)) *world {
	t.Helper()
	w := &world{t: t, clock: newTestClock(), log: &lockedBuffer{}}
	config := Config{
		Domain: domain, Clock: w.clock, Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		ICEServers: []ICEServer{{URLs: []string{"stun:stun.a.example"}}},
		Limits:     Limits{CloseLimit: patience}, // so that a busy machine loses no close code
	}
	if change != nil {
		change(&config)
	}
	node, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	w.node = node
	w.server = httptest.NewServer(node)
	t.Cleanup(func() {
		node.Close()
		w.server.Close()
		if n := w.clock.running(); n != 0 {
			t.Errorf("%d timers run after Close", n)
		}
	})
	return w
}

func (w *world) url() string { return strings.Replace(w.server.URL, "http", "ws", 1) + "/ws" }

// user is a client with a socket.
type user struct {
	t     testing.TB
	world *world
	conn  *websocket.Conn
	nonce string
	key   *identity.Key
	url   string // of its runtime
	token string
}

type packet struct {
	binary bool
	bytes  []byte
}

// fields is a JSON object as a test sees it.
type fields = map[string]any

// dial connects; a client that speaks sessions reads the handshake.
func (w *world) dial(sessions bool) *user {
	w.t.Helper()
	options := &websocket.DialOptions{}
	if sessions {
		options.Subprotocols = []string{Subprotocol}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, w.url(), options)
	if err != nil {
		w.t.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	w.t.Cleanup(func() { conn.CloseNow() })
	u := &user{t: w.t, world: w, conn: conn}
	if sessions {
		hello := u.next()
		body := hello["body"].(fields)
		u.nonce = body["nonce"].(string)
		if hello["type"] != "handshake" || hello["from"] != sessionURL || body["domain"] != domain || len(u.nonce) < identity.MinNonce {
			w.t.Fatalf("handshake is %v", hello)
		}
	}
	return u
}

// enter connects and opens a new runtime.
func (w *world) enter() *user {
	w.t.Helper()
	u := w.dial(true)
	key, err := identity.New()
	if err != nil {
		w.t.Fatal(err)
	}
	u.open(key)
	return u
}

// legacy connects and opens a runtime unsigned.
func (w *world) legacy(url string) *user {
	w.t.Helper()
	u := w.dial(false)
	u.url = url
	answer := u.ask(`{"id":1,"type":"open","from":"` + url + `","to":"mn:/session"}`)
	u.token, _ = answer["body"].(fields)["runtimeToken"].(string)
	u.expectCode(answer, 200)
	return u
}

func (u *user) open(key *identity.Key) {
	u.t.Helper()
	u.key = key
	answer := u.ask(u.openMessage("open", ""))
	u.expectCode(answer, 200)
	u.token = answer["body"].(fields)["runtimeToken"].(string)
}

// openMessage is an open, or with a token a re-open.
func (u *user) openMessage(kind, token string) string {
	u.t.Helper()
	url, err := u.key.RuntimeURL(domain)
	if err != nil {
		u.t.Fatal(err)
	}
	u.url = url.String()
	proof, err := u.key.ProveOpen(u.nonce, url, domain)
	if err != nil {
		u.t.Fatal(err)
	}
	from := u.url
	if token != "" {
		from += "/" + token
	}
	return `{"id":1,"type":"` + kind + `","from":"` + from + `","to":"mn:/session","body":{"key":"` + proof.Key +
		`","signature":"` + proof.Signature + `","nonce":"` + proof.Nonce + `"}}`
}

func (u *user) send(text string) {
	u.t.Helper()
	u.write(websocket.MessageText, []byte(text))
}

func (u *user) sendBinary(b []byte) {
	u.t.Helper()
	u.write(websocket.MessageBinary, b)
}

func (u *user) write(kind websocket.MessageType, b []byte) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := u.conn.Write(ctx, kind, b); err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) read() (packet, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	kind, b, err := u.conn.Read(ctx)
	return packet{kind == websocket.MessageBinary, b}, err
}

// next is the next message, which must be text.
func (u *user) next() fields {
	u.t.Helper()
	p, err := u.read()
	if err != nil {
		u.t.Fatal(err)
	}
	if p.binary {
		u.t.Fatalf("got binary %x", p.bytes)
	}
	var m fields
	if err := json.Unmarshal(p.bytes, &m); err != nil {
		u.t.Fatalf("%s: %v", p.bytes, err)
	}
	return m
}

// nextEnvelope is the next message, which must be binary.
func (u *user) nextEnvelope() frame.Envelope {
	u.t.Helper()
	p, err := u.read()
	if err != nil {
		u.t.Fatal(err)
	}
	if !p.binary {
		u.t.Fatalf("got text %s", p.bytes)
	}
	e, err := frame.ReadEnvelope(p.bytes)
	if err != nil {
		u.t.Fatal(err)
	}
	return e
}

// ask sends a message and gives the next one.
func (u *user) ask(text string) fields {
	u.t.Helper()
	u.send(text)
	return u.next()
}

// expect sends a message and looks at the code of the answer.
func (u *user) expect(code int, text string) fields {
	u.t.Helper()
	answer := u.ask(text)
	u.expectCode(answer, code)
	return answer["body"].(fields)
}

func (u *user) expectCode(answer fields, code int) {
	u.t.Helper()
	body, _ := answer["body"].(fields)
	if answer["type"] != "response" || body["code"] != float64(code) {
		u.t.Fatalf("wanted %d, got %v", code, answer)
	}
	if code != 200 && (body["desc"] == "" || body["desc"] != body["description"]) {
		u.t.Fatalf("texts of %v", answer)
	}
}

// quiet says that nothing else came: the answer to a question is the next message.
func (u *user) quiet() {
	u.t.Helper()
	u.expect(404, `{"id":999,"type":"update","from":"`+u.url+`","to":"hyperty://nowhere.example/x"}`)
}

// closed gives the code with which the node closes the socket; what comes before is passed over.
func (u *user) closed() websocket.StatusCode {
	u.t.Helper()
	for {
		if _, err := u.read(); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				u.t.Fatal("the socket stays open")
			}
			return websocket.CloseStatus(err)
		}
	}
}

// drop cuts the connection without a close.
func (u *user) drop() {
	u.conn.CloseNow()
	u.world.until("the node notes that "+u.url+" is away", func() bool { return u.world.away(u.url) })
}

func (w *world) away(url string) bool {
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	s := w.node.seats[address.MustParse(url)]
	return s == nil || s.client.Load() == nil
}

// until waits for what the node does in its own time.
func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !done(); {
		if time.Now().After(end) {
			w.t.Fatal("waited in vain: " + what)
		}
		time.Sleep(time.Millisecond)
	}
}

func (u *user) name(handle uint64, runtime string) {
	u.t.Helper()
	u.sendBinary(frame.AppendName(nil, handle, runtime))
}

func (u *user) forward(handle uint64, f string) {
	u.t.Helper()
	u.sendBinary(append(frame.AppendForward(nil, handle), f...))
}

// get fetches a page of the node.
func (w *world) get(path string, header ...string) *http.Response {
	w.t.Helper()
	request, err := http.NewRequest(http.MethodGet, w.server.URL+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { response.Body.Close() })
	return response
}

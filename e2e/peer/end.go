package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hyroute/hyroute/e2e/notices"
	"github.com/hyroute/hyroute/host"
	"github.com/hyroute/hyroute/scenarios/history"
)

// end is a runtime with its history.
type end struct {
	tell    func(event)
	begun   time.Time
	sockets *sockets

	lock    sync.Mutex
	me      *host.Runtime
	records []history.Record
	trace   traced
	running sync.WaitGroup
	stop    context.CancelFunc
	owed    atomic.Int64 // posted and not settled
	pace    atomic.Int64 // ms that the listener takes for each message
	meeting meeting
}

// traced is what the machine was told and answered.
type traced struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (t *traced) Write(p []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.text.Write(p)
}

func (t *traced) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.text.String()
}

// value is what is sent.
type value struct {
	Name    string `json:"name"`
	Number  int    `json:"number"`
	Filling string `json:"filling"`
}

// joining says how to join a Message Node.
type joining struct {
	URL   string
	To    string // connectAndSend: where the message goes
	Tell  bool   // each delivery is told as an event
	Trace bool
	TURN  bool // its peer connections go by TURN servers alone

	Domain string            // of the node; empty: as the node says
	Nodes  map[string]string // WebSocket URLs of further domains' nodes
}

// plan is a stream of numbered messages to send.
type plan struct {
	To       string
	Count    int
	Rate     int  // messages a second
	Deadline int  // ms; 0: the default
	Most     int  // not settled at once: the stream waits then; 0: any
	Size     int  // bytes of each message at least
	Relay    bool // kept off peer connections
	First    int  // number of the first one
}

func newEnd(tell func(event)) (*end, error) {
	s, err := newSockets()
	if err != nil {
		return nil, err
	}
	return &end{tell: tell, begun: time.Now(), sockets: s}, nil
}

func (e *end) call(ctx context.Context, c call) (any, error) {
	switch c.Call {
	case "clock":
		return float64(time.Since(e.begun)) / float64(time.Millisecond), nil
	case "load":
		return nil, nil // the machine is linked in
	case "connect":
		return with(c, func(j joining) (any, error) { return e.connect(ctx, j) })
	case "connectAndSend":
		return with(c, func(j joining) (any, error) { return e.connectAndSend(ctx, j) })
	case "stream":
		return with(c, func(p plan) (any, error) { return nil, e.stream(ctx, p) })
	case "closeConnections":
		return e.sockets.closeAll()
	case "counted":
		return e.counted(ctx)
	case "owed":
		return e.owed.Load(), nil
	case "file":
		return with(c, func(f file) (any, error) { return nil, e.file(f) })
	case "setPace":
		return with(c, func(ms int64) (any, error) { e.pace.Store(ms); return nil, nil })
	case "gather":
		return with(c, func(g gathering) (any, error) { return e.meeting.gather(ctx, g, e.begun) })
	case "meet":
		return with(c, func(m moment) (any, error) { return nil, e.meeting.meet(ctx, m, e.begun) })
	case "onDirect":
		return with(c, func(m moment) (any, error) { return e.meeting.onDirect(ctx, m) })
	case "survey":
		return e.meeting.survey(), nil
	case "part":
		return e.meeting.part()
	case "records":
		return e.lines()
	case "trace":
		return e.trace.String(), nil
	}
	return nil, fmt.Errorf("no call %q", c.Call)
}

// with reads the one argument of a call.
func with[A any](c call, do func(A) (any, error)) (any, error) {
	var a A
	if len(c.Arguments) != 1 {
		return nil, fmt.Errorf("%s takes one argument, not %d", c.Call, len(c.Arguments))
	}
	if err := json.Unmarshal(c.Arguments[0], &a); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Call, err)
	}
	return do(a)
}

func (e *end) connect(ctx context.Context, j joining) (string, error) {
	o := host.Options{
		PeerNet: e.sockets, Domain: j.Domain, Nodes: j.Nodes, RelayOnly: j.TURN,
		Listener: func(m *host.Message) { e.delivered(m, j.Tell) },
	}
	o.Trace = &notices.Writer{Log: e.log}
	if j.Trace {
		o.Trace = io.MultiWriter(o.Trace, &e.trace)
	}
	me, err := host.Connect(ctx, j.URL, o)
	if err != nil {
		return "", err
	}
	watching, stop := context.WithCancel(context.Background())
	e.lock.Lock()
	e.me, e.stop = me, stop
	e.lock.Unlock()
	events := me.Events(watching)
	e.running.Go(func() {
		for happened := range events {
			e.happened(happened)
		}
	})
	return me.Address(), nil
}

func (e *end) connectAndSend(ctx context.Context, j joining) (string, error) {
	address, err := e.connect(ctx, j)
	if err != nil {
		return "", err
	}
	sent := e.post(plan{To: j.To}, 0)
	e.tell(event{Name: "posted", Count: 1})
	sent()
	return address, nil
}

// stream keeps to its rate over all: what a late timer left out is sent at the next.
func (e *end) stream(ctx context.Context, p plan) error {
	ticks := time.NewTicker(time.Second / time.Duration(p.Rate))
	defer ticks.Stop()
	begun, mark := time.Now(), max(1, p.Count/100)
	var settled []func()
	for sent := 0; sent < p.Count; {
		due := min(p.Count, 1+int(time.Since(begun)*time.Duration(p.Rate)/time.Second))
		if p.Most > 0 {
			due = min(due, sent+p.Most-int(e.owed.Load()))
		}
		for ; sent < due; sent++ {
			settled = append(settled, e.post(p, p.First+sent))
			if (sent+1)%mark == 0 {
				e.tell(event{Name: "posted", Count: sent + 1})
			}
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	e.tell(event{Name: "posted", Count: p.Count})
	for _, wait := range settled {
		wait()
	}
	return nil
}

// post sends one numbered message, and returns what waits until the runtime said what became of it.
func (e *end) post(p plan, number int) (settled func()) {
	name := fmt.Sprintf("%s#%d", e.address(), number)
	return e.send(name, host.Draft{
		To: p.To, Value: value{name, number, strings.Repeat("x", max(0, p.Size-len(name)))},
		RelayOnly: p.Relay, Deadline: time.Duration(p.Deadline) * time.Millisecond,
	})
}

func (e *end) send(name string, d host.Draft) (settled func()) {
	e.log(history.Record{Kind: history.Posted, Message: name, From: e.address(), To: d.To, Lane: d.Lane})
	e.owed.Add(1)
	sent := e.runtime().Post(d)
	done := make(chan struct{})
	e.running.Go(func() {
		defer close(done)
		e.log(settledAs(sent, name))
		e.owed.Add(-1)
	})
	return func() { <-done }
}

// settledAs waits until it is known what became of a message, and is the record of that.
func settledAs(sent *host.Sent, name string) history.Record {
	receipt, err := sent.Result()
	r := history.Record{Kind: history.Settled, Message: name, Outcome: history.OutcomeTaken}
	var failed *host.Error
	switch {
	case errors.As(err, &failed):
		r.Outcome, r.Reason, r.Maybe = history.OutcomeRejected, string(failed.Code), failed.Maybe
	case err != nil:
		r.Outcome, r.Reason = history.OutcomeRejected, err.Error()
	case receipt.Delivered:
		r.Outcome = history.OutcomeDelivered
	}
	return r
}

func (e *end) delivered(m *host.Message, telling bool) {
	var v value
	if m.IsBytes() {
		v.Name = nameOf(m.From, m.Bytes())
	} else if err := m.JSON(&v); err != nil {
		v.Name = "unreadable: " + err.Error()
	}
	e.log(history.Record{Kind: history.Delivered, Message: v.Name, From: m.From, To: m.To, Path: string(m.Path)})
	if telling {
		e.tell(event{Name: "delivered", Text: v.Name})
	}
	if ms := e.pace.Load(); ms > 0 {
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
}

func (e *end) happened(what host.Event) {
	switch what := what.(type) {
	case host.PathChanged:
		e.tell(event{Name: "path", Text: fmt.Sprintf("%s: %s", what.Path, what.Reason)})
	case host.NodeChanged:
		e.tell(event{Name: "node", Text: what.Status})
	case host.PresenceChanged:
		e.tell(event{Name: "presence", Text: fmt.Sprintf("%s: %s", what.Status, what.Reason)})
	case host.PeerChanged:
		if what.Status == "created" {
			e.tell(event{Name: "connection"})
		}
		e.tell(event{Name: "peer", Text: what.Status})
	}
}

// log keeps a record, at the time of now.
func (e *end) log(r history.Record) {
	e.lock.Lock()
	defer e.lock.Unlock()
	r.At = uint64(time.Since(e.begun).Milliseconds())
	e.records = append(e.records, r)
}

// counted is how many pieces of messages were sent again, and how many came again and were dropped.
func (e *end) counted(ctx context.Context) (sum struct {
	Resent   uint64 `json:"resent"`
	Repeated uint64 `json:"repeated"`
}, err error) {
	me := e.runtime()
	if me == nil {
		return sum, nil
	}
	stats, err := me.Stats(ctx)
	for _, s := range stats.Sessions {
		sum.Resent += s.Resent
		sum.Repeated += s.Repeated
	}
	return sum, err
}

func (e *end) runtime() *host.Runtime {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.me
}

func (e *end) address() string { return e.runtime().Address() }

// lines is the history so far.
func (e *end) lines() (string, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	for i := range e.records {
		e.records[i].End = e.me.Address()
	}
	var lines bytes.Buffer
	err := history.Write(&lines, e.records...)
	return lines.String(), err
}

func (e *end) close() error {
	me := e.runtime()
	if me == nil {
		return nil
	}
	err := me.Close()
	e.stop()
	e.running.Wait()
	return err
}

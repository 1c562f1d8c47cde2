//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// end is one side of a pair: a page or a native peer. Both know the same calls.
type end interface {
	call(ctx context.Context, method string, result any, arguments ...any) error
	close() error
	log() string
	group() int // of its processes
}

// event is what an end tells by itself.
type event struct {
	Name  string `json:"name"`
	Count int    `json:"count"` // posted: so many so far
	Text  string `json:"text"`
	at    time.Time
}

// Events of an end.
const (
	eventPosted     = "posted"     // it has posted so many messages
	eventDelivered  = "delivered"  // a message was handed to its listener; told only where a case asks for it
	eventConnection = "connection" // it made a peer connection
	eventPath       = "path"       // the preferred path changed; the text says how
	eventNode       = "node"       // the connection to a Message Node changed; the text is its status
	eventPeer       = "peer"       // a peer connection changed; the text is its status
	eventPresence   = "presence"   // the other end went or came back; the text says which and why
)

// news keeps what an end told, for whoever waits for it.
type news struct {
	lock   sync.Mutex
	events []event
	more   chan struct{}
}

func newNews() *news { return &news{more: make(chan struct{})} }

func (n *news) tell(raw []byte) {
	e := event{at: time.Now()}
	if err := json.Unmarshal(raw, &e); err != nil {
		e.Name, e.Text = "unreadable", string(raw)
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	n.events = append(n.events, e)
	close(n.more)
	n.more = make(chan struct{})
}

// wait returns the first event that matches, told before or to be told.
func (n *news) wait(ctx context.Context, name string, match func(event) bool) (event, error) {
	for seen := 0; ; {
		n.lock.Lock()
		events, more := n.events, n.more
		n.lock.Unlock()
		for ; seen < len(events); seen++ {
			if e := events[seen]; e.Name == name && match(e) {
				return e, nil
			}
		}
		select {
		case <-more:
		case <-ctx.Done():
			return event{}, fmt.Errorf("waiting for %q: %w", name, ctx.Err())
		}
	}
}

// all are all events so far.
func (n *news) all() []event {
	n.lock.Lock()
	defer n.lock.Unlock()
	return slices.Clone(n.events)
}

// of are all events of a name so far.
func (n *news) of(name string) []event {
	n.lock.Lock()
	defer n.lock.Unlock()
	var all []event
	for _, e := range n.events {
		if e.Name == name {
			all = append(all, e)
		}
	}
	return all
}

// forget drops the events of a name so far.
func (n *news) forget(name string) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.events = slices.DeleteFunc(slices.Clone(n.events), func(e event) bool { return e.Name == name })
}

// side is an end with the calls spelled out.
type side struct {
	end
	name    string
	news    *news
	address string
	offset  time.Duration // its clock reads this when the stage's reads 0
	witness *witness      // not nil: has its records
	sudden  bool          // it waits for the witness
}

// plan is a stream of numbered messages to send.
type plan struct {
	To       string `json:"to"`
	Count    int    `json:"count"`
	Rate     int    `json:"rate"`     // messages a second
	Deadline int    `json:"deadline"` // ms; 0: the default
	Most     int    `json:"most"`     // not settled at once: the stream waits then; 0: any
	Size     int    `json:"size"`     // bytes of each message at least
	Relay    bool   `json:"relay"`    // kept off peer connections
	First    int    `json:"first"`    // number of the first one
}

// joining is how a side joins a Message Node.
type joining struct {
	URL   string `json:"url"`
	To    string `json:"to,omitempty"`    // connectAndSend: where the message goes
	Tell  bool   `json:"tell,omitempty"`  // each delivery is told as an event
	Trace bool   `json:"trace,omitempty"` // keep every event and effect of the machine

	TURN    bool   `json:"turn,omitempty"`    // its peer connections go by TURN servers alone
	Keep    bool   `json:"keep,omitempty"`    // its session lives on when its page comes back
	Witness string `json:"witness,omitempty"` // URL that is told each record; empty: the side keeps them itself
	Sudden  bool   `json:"sudden,omitempty"`  // the witness is waited for

	Domain string            `json:"domain,omitempty"` // of the node; empty: as the node says
	Nodes  map[string]string `json:"nodes,omitempty"`  // WebSocket URLs of further domains' nodes
}

// load has the side make ready what it needs before it can connect.
func (s *side) load(ctx context.Context) error {
	if err := s.call(ctx, "load", nil); err != nil {
		return fmt.Errorf("%s: load: %w", s.name, err)
	}
	return nil
}

// connect joins the side to a Message Node, at which it listens from then on.
func (s *side) connect(ctx context.Context, j joining) error {
	if err := s.call(ctx, "connect", &s.address, j); err != nil {
		return fmt.Errorf("%s: connect: %w", s.name, err)
	}
	return nil
}

// connectAndSend is connect and one message, posted as soon as there is something to post it to. It returns when the
// message has been settled.
func (s *side) connectAndSend(ctx context.Context, j joining) error {
	if err := s.call(ctx, "connectAndSend", &s.address, j); err != nil {
		return fmt.Errorf("%s: connect and send: %w", s.name, err)
	}
	return nil
}

// trace is what the machine was told and answered, if the side was told to keep that.
func (s *side) trace(ctx context.Context) (text string, err error) {
	if err := s.call(ctx, "trace", &text); err != nil {
		return "", fmt.Errorf("%s: trace: %w", s.name, err)
	}
	return text, nil
}

// stream sends by the plan, and returns when every message has been settled.
func (s *side) stream(ctx context.Context, p plan) error {
	if err := s.call(ctx, "stream", nil, p); err != nil {
		return fmt.Errorf("%s: stream: %w", s.name, err)
	}
	return nil
}

// closeConnections closes its peer connections behind the runtime's back, and says how many there were.
func (s *side) closeConnections(ctx context.Context) (n int, err error) {
	if err := s.call(ctx, "closeConnections", &n); err != nil {
		return n, fmt.Errorf("%s: close connections: %w", s.name, err)
	}
	return n, nil
}

// file sends so many bytes in a lane of their own, and returns when that is settled.
func (s *side) file(ctx context.Context, f file) error {
	if err := s.call(ctx, "file", nil, f); err != nil {
		return fmt.Errorf("%s: file: %w", s.name, err)
	}
	return nil
}

// file is a message of bytes.
type file struct {
	To       string `json:"to"`
	Number   int    `json:"number"` // decides what the bytes are
	Size     int    `json:"size"`
	Lane     string `json:"lane"`
	Deadline int    `json:"deadline"` // ms; 0: the default
}

// setPace has the listener take so many milliseconds for each message from now on.
func (s *side) setPace(ctx context.Context, ms int) error {
	if err := s.call(ctx, "setPace", nil, ms); err != nil {
		return fmt.Errorf("%s: set pace: %w", s.name, err)
	}
	return nil
}

// stored says whether the page before left its whole state.
func (s *side) stored(ctx context.Context) (yes bool, err error) {
	if err := s.call(ctx, "stored", &yes); err != nil {
		return false, fmt.Errorf("%s: stored: %w", s.name, err)
	}
	return yes, nil
}

// candidates are the kinds of the local candidates that its peer connections use; of pages only.
func (s *side) candidates(ctx context.Context) (kinds []string, err error) {
	if err := s.call(ctx, "candidates", &kinds); err != nil {
		return nil, fmt.Errorf("%s: candidates: %w", s.name, err)
	}
	return kinds, nil
}

// owed is how many of its messages are not settled.
func (s *side) owed(ctx context.Context) (n int, err error) {
	if err := s.call(ctx, "owed", &n); err != nil {
		return n, fmt.Errorf("%s: owed: %w", s.name, err)
	}
	return n, nil
}

// records is its history so far, with times on the clock of the stage, in ms.
func (s *side) records(ctx context.Context) ([]history.Record, error) {
	if s.witness != nil {
		var told int
		err := s.call(ctx, "told", &told)
		if err == nil {
			err = s.witness.complete(ctx, told)
		}
		return s.witness.all(), err
	}
	var lines string
	if err := s.call(ctx, "records", &lines); err != nil {
		return nil, fmt.Errorf("%s: records: %w", s.name, err)
	}
	records, err := history.Read(strings.NewReader(lines))
	if err != nil {
		return nil, fmt.Errorf("%s: records: %w", s.name, err)
	}
	for i := range records {
		records[i].At -= uint64(s.offset.Milliseconds())
	}
	return records, nil
}

// synchronize learns how far the side's clock is from the stage's: the middle of the quickest of some questions.
func (s *side) synchronize(ctx context.Context, since func() time.Duration) error {
	best := time.Hour
	for range 8 {
		var theirs float64
		before := since()
		if err := s.call(ctx, "clock", &theirs); err != nil {
			return fmt.Errorf("%s: clock: %w", s.name, err)
		}
		after := since()
		if after-before < best {
			best = after - before
			s.offset = time.Duration(theirs*float64(time.Millisecond)) - (before+after)/2
		}
	}
	return nil
}

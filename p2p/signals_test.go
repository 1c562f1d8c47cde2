package p2p

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
)

func none(stubs.Event) {}

// changes gives the states that a sink is told, those before live left out.
func changes() (chan stubs.Changed, func(stubs.Event)) {
	list := make(chan stubs.Changed, 16)
	return list, func(e stubs.Event) {
		if c, ok := e.(stubs.Changed); ok && c.Status > stubs.InProgress {
			list <- c
		}
	}
}

func TestSignalsOfTheMachine(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	var got []Incoming
	b.incoming = func(in Incoming) { got = append(got, in) }
	x, y := address.MustParse("hyperty://a.example/x"), address.MustParse("hyperty://a.example/y")
	for _, kind := range []string{"invite", "accept", "refuse", "bye", "list"} {
		if err := a.endpoint.Signal(b.runtime, kind, 7, []address.Address{x, y}); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 5 {
		t.Fatalf("%d signals verified", len(got))
	}
	for i, in := range got {
		if in.Peer != a.runtime || in.Attempt != 7 || in.ForMachine() != (i < 4) || slices.Equal(in.Addresses, []address.Address{x, y}) != (i == 4) {
			t.Errorf("%+v", in)
		}
	}
	if err := a.endpoint.Signal(b.runtime, "invite", 1<<32, nil); err == nil {
		t.Error("an attempt of 33 bits was sent")
	}
}

func TestSignalsThatAreDropped(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	var sent message.Envelope
	a.filter = func(m *message.Envelope) bool {
		sent = *m
		return false
	}
	if err := a.endpoint.Signal(b.runtime, "invite", 7, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.endpoint.Receive(sent); err != nil {
		t.Fatalf("as it was: %v", err)
	}
	body := func(old, new string) func(*message.Envelope) {
		return func(m *message.Envelope) {
			changed := strings.Replace(string(m.Body), old, new, 1)
			if changed == string(m.Body) {
				t.Fatalf("%s does not stand in %s", old, m.Body)
			}
			m.Body = []byte(changed)
		}
	}
	for name, change := range map[string]func(*message.Envelope){
		"other attempt":        body(`"attempt":7`, `"attempt":8`),
		"other kind":           body(`"invite"`, `"accept"`),
		"other value":          body(`"key"`, `"value":"x","key"`),
		"attempt of 33 bits":   body(`"attempt":7`, `"attempt":4294967303`),
		"negative attempt":     body(`"attempt":7`, `"attempt":-7`),
		"no signal":            body(`"signal"`, `"other"`),
		"no object":            func(m *message.Envelope) { m.Body = []byte(`[]`) },
		"no body":              func(m *message.Envelope) { m.Body = nil },
		"too long":             body(`"key"`, `"value":"`+strings.Repeat("x", maxValue+1)+`","key"`),
		"an answer":            func(m *message.Envelope) { m.Type = message.Response },
		"from the runtime":     func(m *message.Envelope) { m.From = a.runtime.String() },
		"from other component": func(m *message.Envelope) { m.From = a.runtime.Join("registry").String() },
		"from an entity":       func(m *message.Envelope) { m.From = "hyperty://a.example/x" },
		"from nowhere":         func(m *message.Envelope) { m.From = "x" },
		"from myself":          func(m *message.Envelope) { m.From = m.To },
		"from another": func(m *message.Envelope) {
			m.From = newSide(t, nil).runtime.Join("p2p").String()
		},
	} {
		m := sent
		change(&m)
		if in, err := b.endpoint.Receive(m); err == nil {
			t.Errorf("%s: taken as %+v", name, in)
		}
	}
	signed := func(kind, value string) message.Envelope {
		key, signature, err := a.endpoint.options.Key.SignSignal(identity.Signal{From: a.runtime, To: b.runtime, Kind: kind, Attempt: 9, Value: value})
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(signalBody{Method: "signal", Kind: kind, Attempt: 9, Value: value, Key: key, Signature: signature})
		if err != nil {
			t.Fatal(err)
		}
		m := sent
		m.Body = body
		return m
	}
	many, err := json.Marshal(slices.Repeat([]string{"hyperty://a.example/x"}, maxListed+1))
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]message.Envelope{
		"unknown kind":        signed("hello", ""),
		"list of nothing":     signed("list", ""),
		"list of no address":  signed("list", `["x"]`),
		"list that is long":   signed("list", string(many)),
		"answer to no offer":  signed("answer", "v=0"),
		"list of other types": signed("list", `[1]`),
	} {
		if in, err := b.endpoint.Receive(m); err == nil {
			t.Errorf("%s: taken as %+v", name, in)
		}
	}
}

func TestWhatWaitsIsBounded(t *testing.T) {
	var w waitingRoom
	id := func(i int) attemptOf { return attemptOf{attempt: uint64(i)} }
	for i := range maxWaiting + 5 {
		w.put(id(i), "offer", "v="+strconv.Itoa(i))
		for range maxCandidates + 5 {
			w.put(id(i), "candidate", "c")
		}
	}
	if len(w.attempts) != maxWaiting || len(w.order) != maxWaiting {
		t.Errorf("%d attempts wait", len(w.attempts))
	}
	if e := w.take(id(4)); e.offer != "" {
		t.Error("the oldest did not make room")
	}
	if e := w.take(id(5)); e.offer != "v=5" || len(e.candidates) != maxCandidates {
		t.Errorf("%q and %d candidates", e.offer, len(e.candidates))
	}
	if e := w.take(id(5)); e.offer != "" || len(w.order) != maxWaiting-1 {
		t.Error("taken twice")
	}
}

// Whatever order the node and the peer's machine bring the signals in, a connection comes of them.
func TestCandidatesBeforeTheDescription(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	defer a.endpoint.Close()
	defer b.endpoint.Close()
	// The offer goes last of what a says, the answer last of what b says.
	for _, s := range []*side{a, b} {
		var description *message.Envelope
		candidate := false
		s.filter = func(m *message.Envelope) bool {
			if strings.Contains(string(m.Body), `"kind":"candidate"`) {
				if candidate = true; description != nil {
					held := *description
					description = nil
					go s.send(address.Address{}, held)
				}
				return true
			}
			if candidate {
				return true
			}
			held := *m
			description = &held
			return false
		}
	}
	join(t, a, b, none, none)
}

func TestStubsThatFail(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	defer a.endpoint.Close()
	defer b.endpoint.Close()
	expect := func(name, reason string, start func(sink func(stubs.Event)) *Stub) *Stub {
		t.Helper()
		list, sink := changes()
		s := start(sink)
		if c := <-list; c.Status != stubs.Failed || c.Reason != reason {
			t.Errorf("%s: %v %s (%v)", name, c.Status, c.Reason, c.Err)
		}
		<-s.Done()
		if err := s.Transmit(0, []byte{1}); !errors.Is(err, stubs.ErrNotLive) {
			t.Errorf("%s: transmit: %v", name, err)
		}
		return s
	}
	expect("no offer", "no-offer", func(sink func(stubs.Event)) *Stub { return b.endpoint.Answer(a.runtime, 1, sink) })
	b.endpoint.waiting.put(attemptOf{a.runtime, 2}, "offer", "v=0\r\nnonsense")
	expect("bad offer", "bad-description", func(sink func(stubs.Event)) *Stub { return b.endpoint.Answer(a.runtime, 2, sink) })
	list, sink := changes()
	open := a.endpoint.Dial(b.runtime, 3, sink)
	expect("repeated", "repeated", func(sink func(stubs.Event)) *Stub { return a.endpoint.Dial(b.runtime, 3, sink) })
	open.signalled("answer", "nonsense")
	if c := <-list; c.Reason != "bad-description" {
		t.Errorf("bad answer: %+v", c)
	}
	a.endpoint.options.Send = func(address.Address, message.Envelope) error { return errors.New("no node") }
	expect("no node", "no-signalling", func(sink func(stubs.Event)) *Stub { return a.endpoint.Dial(b.runtime, 4, sink) })
	a.endpoint.options.MaxConnections = 1
	a.endpoint.options.Send = a.send
	a.endpoint.Dial(b.runtime, 5, none)
	expect("too many", "too-many", func(sink func(stubs.Event)) *Stub { return a.endpoint.Dial(b.runtime, 6, sink) })
	a.endpoint.Close()
	expect("closed", "closed", func(sink func(stubs.Event)) *Stub { return a.endpoint.Dial(b.runtime, 7, sink) })
}

func TestBadCandidatesAndServersAreNoReasonToFail(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	defer a.endpoint.Close()
	defer b.endpoint.Close()
	a.endpoint.SetICEServers([]stubs.ICEServer{{URLs: []string{"http://nonsense"}}})
	complaints := make(chan string, 1024)
	record := func(e stubs.Event) {
		if c, ok := e.(stubs.Complained); ok {
			complaints <- c.Text
		}
	}
	b.filter = func(m *message.Envelope) bool {
		return !strings.Contains(string(m.Body), `"kind":"candidate"`) // a learns b's from its checks
	}
	stubA, _ := join(t, a, b, record, none)
	if text := <-complaints; !strings.Contains(text, "ICE servers") {
		t.Error(text)
	}
	for range maxCandidates + 10 {
		stubA.signalled("candidate", `{"candidate":"nonsense`)
	}
	for range maxCandidates - 1 { // the answer was one signal
		if text := <-complaints; !strings.Contains(text, "candidate") {
			t.Error(text)
		}
	}
	stubA.Close()
	<-stubA.Done()
	if len(complaints) > 0 {
		t.Errorf("more than %d candidates were looked at", maxCandidates)
	}
}

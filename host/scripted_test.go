package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// scripted is a machine that answers what a test says, so that the loop is seen with answers that a right machine never gives.
type scripted struct {
	mu     sync.Mutex
	told   []engine.Event
	step   func(engine.Event) ([]engine.Effect, error) // for each event
	closed bool
}

func (s *scripted) Step(_ engine.Instant, events ...engine.Event) ([]engine.Effect, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []engine.Effect
	for _, e := range events {
		effects, err := s.step(e)
		if err != nil {
			return nil, err
		}
		all = append(all, effects...)
	}
	s.told = append(s.told, events...)
	return all, nil
}

func (s *scripted) Snapshot() ([]byte, error) { return nil, nil }

func (s *scripted) Close() error {
	s.closed = true
	return nil
}

// runtime makes a runtime of the machine, without any node.
func (s *scripted) runtime(t *testing.T, o Options) *Runtime {
	t.Helper()
	o.open = func(engine.Config) (machine.Machine, []engine.Effect, error) { return s, nil, nil }
	o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no node") }
	r, err := Connect(testContext(t), "ws://"+testDomain, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		if !s.closed {
			t.Error("the machine was not closed")
		}
	})
	return r
}

func settle(e engine.Event) ([]engine.Effect, error) {
	if m, ok := e.(*engine.MessagePosted); ok {
		return []engine.Effect{&engine.Settle{Msg: m.Msg, Outcome: "delivered"}, &engine.Release{Msg: m.Msg}}, nil
	}
	return nil, nil
}

// A machine that asks for what is not there is wrong, and the loop goes on.
func TestEffectsWithoutSense(t *testing.T) {
	x := address.MustParse("hyperty://a.example/x")
	senseless := []engine.Effect{
		&engine.Transmit{Stub: 9, Head: []byte{1}}, &engine.Transmit{Stub: 9, Pad: 1 << 20, Parts: []engine.Part{{Msg: 77, Length: 1}}},
		&engine.Transmit{Stub: 9, Parts: []engine.Part{{Msg: 1, Offset: -1, Length: 1}}}, &engine.Transmit{Stub: 9, Parts: []engine.Part{{Msg: 1, Offset: 1, Length: 1 << 40}}},
		&engine.Hold{Session: 1, Number: 1, Frame: 5, Length: 1}, &engine.Drop{Session: 1, First: 1, Last: 1 << 60}, &engine.Drop{Session: 1, First: 9, Last: 1},
		&engine.Deliver{Delivery: 1, Session: 1, First: 1, Last: 1 << 50, From: x, To: x}, &engine.Deliver{Delivery: 2, Session: 1, First: 2, Last: 1, From: x, To: x},
		&engine.Deliver{Delivery: 3, Msg: 77, From: x, To: x}, &engine.Deliver{Delivery: 4, JSON: 77, From: x, To: x}, &engine.Deliver{Delivery: 5},
		&engine.Discard{JSON: 77}, &engine.Settle{Msg: 77, Outcome: "delivered"}, &engine.GiveUpAnswer{Msg: 77}, &engine.Release{Msg: 77},
		&engine.Forward{Msg: 77, Stub: 9}, &engine.ConnectStub{Stub: 9}, &engine.CloseStub{Stub: 9}, &engine.NameHandle{Stub: 9, Runtime: x},
		&engine.Subscribe{Job: 1, Stub: 9}, &engine.QueryRegistry{Job: 2, Stub: 9, Registry: x, Resource: x}, &engine.Signal{Peer: x, Kind: "bye"},
		&engine.Explained{Job: 77}, &engine.Wake{At: 0}, &engine.Wake{At: 1}, nil,
	}
	var once sync.Once
	s := &scripted{}
	s.step = func(e engine.Event) (effects []engine.Effect, err error) {
		if _, ok := e.(*engine.MessagePosted); ok {
			once.Do(func() { effects = senseless })
		}
		if effects == nil {
			return settle(e)
		}
		return effects, nil
	}
	r := s.runtime(t, Options{})
	r.Post(Draft{To: x.String(), Value: "first"})
	// What the effects of a step say is told in the step after it, and so before that of a message which was posted later.
	for _, value := range []string{"second", "third"} {
		if err := r.Send(testContext(t), x.String(), value); err != nil {
			t.Error(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refused := 0
	for _, e := range s.told {
		if _, ok := e.(*engine.DeliveryRefused); ok {
			refused++
		}
	}
	if refused != 5 {
		t.Errorf("%d of 5 deliveries were refused", refused)
	}
}

func TestPoisonEventIsLeftOut(t *testing.T) {
	const poison = "hyperty://a.example/poison"
	s := &scripted{}
	s.step = func(e engine.Event) ([]engine.Effect, error) {
		if m, ok := e.(*engine.MessagePosted); ok && m.To.String() == poison {
			return nil, &machine.TrapError{Err: errors.New("planted")}
		}
		return settle(e)
	}
	var trace traced
	r := s.runtime(t, Options{Trace: &trace})
	var sent []*Sent
	for i := range 30 {
		to := fmt.Sprintf("hyperty://a.example/%d", i)
		if i%10 == 5 {
			to = poison
		}
		sent = append(sent, r.Post(Draft{To: to, Value: i}))
	}
	for i, m := range sent {
		_, err := m.Wait(testContext(t))
		if i%10 == 5 {
			if !errors.Is(err, &Error{Code: Broken}) {
				t.Errorf("poison %d: %v", i, err)
			}
		} else if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if n := strings.Count(trace.String(), "planted"); n < 3 {
		t.Errorf("the trace names the poison %d times:\n%s", n, trace.String())
	}
}

func TestBrokenMachineEndsTheRuntime(t *testing.T) {
	s := &scripted{}
	s.step = func(e engine.Event) ([]engine.Effect, error) {
		if m, ok := e.(*engine.MessagePosted); ok && m.Msg == 2 {
			return nil, errors.New("planted")
		}
		return nil, nil
	}
	r := s.runtime(t, Options{})
	ctx := testContext(t)
	first := r.Post(Draft{To: "hyperty://a.example/x", Value: 1})
	second := r.Post(Draft{To: "hyperty://a.example/x", Value: 2})
	for _, m := range []*Sent{first, second} {
		if _, err := m.Wait(ctx); !errors.Is(err, &Error{Code: Broken}) {
			// The first may have been in a step of its own, and the second then took the machine with it.
			t.Errorf("%v", err)
		}
	}
	<-r.Done()
	if err := r.Send(ctx, "hyperty://a.example/x", 3); !errors.Is(err, &Error{Code: Closed}) {
		t.Errorf("afterwards: %v", err)
	}
	if _, err := r.Receive(ctx); !errors.Is(err, &Error{Code: Closed}) {
		t.Errorf("receive: %v", err)
	}
	if _, err := r.Register("x", nil); !errors.Is(err, &Error{Code: Closed}) {
		t.Errorf("register: %v", err)
	}
	if _, err := r.Explain(ctx, "hyperty://a.example/x"); !errors.Is(err, &Error{Code: Closed}) {
		t.Errorf("explain: %v", err)
	}
	for range r.Events(ctx) {
	}
}

func TestCloseWaitsForWhatIsSettledSoon(t *testing.T) {
	s := &scripted{}
	released := make(chan uint64, 1)
	s.step = func(e engine.Event) ([]engine.Effect, error) {
		switch e := e.(type) {
		case *engine.MessagePosted:
			if e.To.Path() == "/soon" {
				released <- e.Msg
			}
		case *engine.DeliveryTaken:
			return []engine.Effect{&engine.Settle{Msg: e.Delivery, Outcome: "delivered"}, &engine.Release{Msg: e.Delivery}}, nil
		}
		return nil, nil
	}
	r := s.runtime(t, Options{})
	soon := r.Post(Draft{To: "hyperty://a.example/soon", Value: 1})
	msg := <-released
	never := r.Post(Draft{To: "hyperty://a.example/never", Value: 1})
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		r.Close()
	}()
	r.inbox.put(takenInput{msg, nil})
	if _, err := soon.Wait(testContext(t)); err != nil {
		t.Errorf("soon: %v", err)
	}
	if _, err := never.Wait(testContext(t)); !errors.Is(err, &Error{Code: Closed}) {
		t.Errorf("never: %v", err)
	}
	<-closed
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.told[len(s.told)-1].(*engine.Closing); !ok {
		t.Errorf("the last event is %T", s.told[len(s.told)-1])
	}
}

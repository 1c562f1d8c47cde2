package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/scenarios/corpus"
)

// two makes alice and bob, both registered.
func two(t *testing.T, o Options) (alice, bob *Runtime) {
	t.Helper()
	n := startNode(t)
	o.Name = "alice"
	alice = n.connect(t, o)
	o.Name = "bob"
	bob = n.connect(t, o)
	ctx := testContext(t)
	if err := errors.Join(alice.Registered(ctx), bob.Registered(ctx)); err != nil {
		t.Fatal(err)
	}
	return alice, bob
}

func TestValuesArriveAsTheyWere(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		alice, bob := two(t, o)
		ctx := testContext(t)
		large := bytes.Repeat([]byte{0, 1, 2, 3, 255}, 3<<20/5)
		for _, v := range []struct{ sent, want any }{
			{"text", "text"}, {"", ""}, {"π 😀\n\x00", "π 😀\n\x00"}, {[]byte{0, 255}, []byte{0, 255}}, {large, large},
			{map[string]any{"__proto__": map[string]any{"isAdmin": true}}, map[string]any{"__proto__": map[string]any{"isAdmin": true}}},
			{json.RawMessage(`{"a":[1,2,null]}`), map[string]any{"a": []any{1.0, 2.0, nil}}}, {nil, nil}, {42, 42.0}, {true, true},
			{strings.Repeat("long text ", 1<<17), strings.Repeat("long text ", 1<<17)},
		} {
			sent := alice.Post(Draft{To: bob.Address(), Value: v.sent})
			m, err := bob.Receive(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Value(); !reflect.DeepEqual(got, v.want) {
				t.Errorf("%.60v arrived as %.60v", v.sent, got)
			}
			if r, err := sent.Wait(ctx); err != nil || !r.Delivered {
				t.Errorf("%.60v: %+v %v", v.sent, r, err)
			}
		}
		for _, bad := range []any{"\xff", func() {}, json.RawMessage(`{"a":`)} {
			if err := alice.Send(ctx, bob.Address(), bad); !errors.Is(err, &Error{Code: UnsupportedPayload}) {
				var e *Error
				if !errors.As(err, &e) || e.Code != UnsupportedPayload {
					t.Errorf("%v was sent: %v", bad, err)
				}
			}
		}
	})
}

func code(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestFailures(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		alice, bob := two(t, o)
		ctx := testContext(t)
		post := func(d Draft) error {
			_, err := alice.Post(d).Wait(ctx)
			return err
		}
		short := 200 * time.Millisecond
		for name, test := range map[string]struct {
			err  error
			want Code
		}{
			"bad address":        {post(Draft{To: "bob"}), BadAddress},
			"bad from":           {post(Draft{To: bob.Address(), From: "x"}), BadAddress},
			"from of another":    {post(Draft{To: bob.Address(), From: bob.Address()}), UnknownSender},
			"unknown":            {post(Draft{To: "hyperty://a.example/nobody", Deadline: short}), NotFound},
			"unknown runtime":    {post(Draft{To: "runtime://a.example/nobody/x", Deadline: short}), NoSuchRuntime},
			"a type that is one": {post(Draft{To: bob.Address(), Type: "open"}), BadOption},
			"nobody listens":     {post(Draft{To: alice.URL() + "/nothing", Deadline: short}), NoListener},
		} {
			if code(test.err) != test.want {
				t.Errorf("%s: %v", name, test.err)
			}
		}
		var answer atomic.Bool
		bob.Listen(func(m *Message) {
			if answer.Load() {
				m.ReplyCode(403, "no")
			}
		})
		if _, err := alice.Ask(ctx, Draft{To: bob.Address(), Value: 1, AnswerWithin: short}); code(err) != NoAnswer {
			t.Errorf("no answer: %v", err)
		}
		answer.Store(true)
		if err := post(Draft{To: bob.Address(), Value: make([]byte, 17<<20)}); code(err) != TooBig {
			t.Errorf("17 MiB: %v", err)
		}
		if err := post(Draft{To: bob.Address(), Value: make([]byte, 16<<20-16)}); err != nil {
			t.Errorf("16 MiB: %v", err)
		}
		_, err := alice.Request(ctx, bob.Address(), 1)
		var e *Error
		if !errors.As(err, &e) || e.Code != Refused || e.Answer == nil || e.Answer.Code != 403 || e.Answer.Text() != "no" {
			t.Errorf("refused: %v", err)
		}
	})
}

func TestContextsEndWaiting(t *testing.T) {
	alice, bob := two(t, Options{})
	ctx, cancel := context.WithCancel(testContext(t))
	bob.Listen(func(m *Message) { cancel() }) // and never answers
	if _, err := alice.Request(ctx, bob.Address(), 1); code(err) != Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := alice.Send(short, "hyperty://a.example/nobody", 1); code(err) != NotFound && code(err) != Expired {
		t.Errorf("out of time: %v", err)
	}
	// What was given up is no burden.
	if err := alice.Send(testContext(t), bob.Address(), 1); err != nil {
		t.Error(err)
	}
}

func TestLocalMessages(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		alice, _ := two(t, o)
		ctx := testContext(t)
		desk, err := alice.Register("desk", func(m *Message) { m.Reply(m.Text() + m.Text()) })
		if err != nil {
			t.Fatal(err)
		}
		answer, err := alice.Request(ctx, desk.Address(), "ha")
		if err != nil || answer.Text() != "haha" || answer.Path != Local {
			t.Errorf("%+v %v", answer, err)
		}
		if x, err := alice.Explain(ctx, desk.Address()); err != nil || x.By != "local" {
			t.Errorf("%+v %v", x, err)
		}
		if _, err := alice.Register("desk", nil); code(err) != BadAddress {
			t.Errorf("twice: %v", err)
		}
		if _, err := alice.Register("d e s k", nil); code(err) != BadAddress {
			t.Errorf("no address: %v", err)
		}
		desk.Close()
		if _, err := alice.Post(Draft{To: desk.Address(), Value: "ha", Deadline: 50 * time.Millisecond}).Wait(ctx); err == nil {
			t.Error("an endpoint that is closed takes messages")
		}
		if _, err := desk.Receive(ctx); code(err) != Closed {
			t.Errorf("receive at it: %v", err)
		}
	})
}

func TestNameOfAnotherIsRefused(t *testing.T) {
	_, bob := two(t, Options{})
	e, err := bob.Register("alice", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Registered(testContext(t)); code(err) != NameTaken {
		t.Errorf("%v", err)
	}
}

// What nobody takes is not delivered, and its sender is told so in the end.
func TestSlowListenerHoldsItsSender(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		alice, bob := two(t, o)
		ctx := testContext(t)
		value := make([]byte, 64<<10)
		var sent []*Sent
		for range 50 {
			sent = append(sent, alice.Post(Draft{To: bob.Address(), Value: value}))
		}
		for i, m := range sent {
			select {
			case <-m.Done():
				t.Fatalf("message %d is settled, and nobody took it", i)
			default:
			}
			if _, err := bob.Receive(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Wait(ctx); err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
		}
		// Without end, the queue says no.
		sent = nil
		for range 200 {
			sent = append(sent, alice.Post(Draft{To: bob.Address(), Value: value, Deadline: time.Second}))
		}
		full := 0
		for _, m := range sent {
			switch _, err := m.Wait(ctx); code(err) {
			case TooMany:
				full++
			case Expired:
			default:
				t.Fatalf("nobody takes it: %v", err)
			}
		}
		if full == 0 || full == len(sent) {
			t.Errorf("%d of %d were too many", full, len(sent))
		}
	})
}

func TestManySendersAtOnce(t *testing.T) {
	alice, bob := two(t, Options{})
	ctx := testContext(t)
	const senders, each = 10, 50
	bob.Listen(func(m *Message) { m.Reply(m.Value()) })
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				want := float64(s*each + i)
				if m, err := alice.Request(ctx, bob.Address(), want); err != nil || m.Value() != want {
					t.Errorf("%v: %v %v", want, m, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// What a runtime recorded, either form of the machine answers again, line by line.
func TestTraceCanBePlayedAgain(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		var trace traced
		n := startNode(t)
		ctx := testContext(t)
		bob := n.connect(t, Options{Name: "bob"})
		o.Name, o.Trace = "alice", &trace
		alice := n.connect(t, o)
		streams := []*stream{newStream("alice to bob", alice, bob), newStream("bob to alice", bob, alice)}
		flow(t, ctx, "to the direct path", streams, inARow(Direct, 20))
		alice.BreakDirect()
		flow(t, ctx, "back", streams, inARow(Relay, 1))
		drain(t, ctx, streams)
		alice.Close()
		s, err := corpus.Parse("trace", trace.String())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Blocks) < 20 {
			t.Errorf("%d blocks", len(s.Blocks))
		}
		if err := s.Play(corpus.Native()); err != nil {
			t.Error(err)
		}
		if o.Module == nil {
			return
		}
		err = s.Play(corpus.Maker{New: func(c engine.Config) (machine.Machine, []engine.Effect, error) {
			return machine.Module(o.Module, c, machine.Options{CacheDir: cache})
		}})
		if err != nil {
			t.Error(err)
		}
	})
}

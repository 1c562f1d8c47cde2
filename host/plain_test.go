package host

import (
	"context"
	"testing"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
)

// older is a client of the node that knows JSON only: no sessions.
type older struct {
	t        *testing.T
	stub     *stubs.Node
	runtime  string
	received chan message.Envelope
}

func startOlder(t *testing.T, n *testNode, address string) *older {
	t.Helper()
	key, err := identity.New()
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := key.RuntimeURL(testDomain)
	if err != nil {
		t.Fatal(err)
	}
	o := &older{t: t, runtime: runtime.String(), received: make(chan message.Envelope, 100)}
	live := make(chan struct{})
	o.stub = stubs.NewNode(stubs.NodeConfig{URL: n.url, Domain: testDomain, Runtime: runtime, Key: key, Sink: func(e stubs.Event) {
		switch e := e.(type) {
		case stubs.Opened:
			close(live)
		case stubs.Received:
			o.received <- e.Envelope
		case stubs.Complained:
			t.Errorf("the node complains: %s", e.Text)
		}
	}}, nil)
	t.Cleanup(func() {
		o.stub.Close()
		<-o.stub.Done()
	})
	o.stub.Connect()
	<-live
	o.send(message.Envelope{ID: 1, Type: message.Create, From: o.runtime, To: "domain://registry." + testDomain,
		Body: []byte(`{"value":{"url":"` + address + `","runtime":"` + o.runtime + `","status":"live","expires":60}}`)})
	if e := o.next(); e.Type != message.Response {
		t.Fatalf("%+v", e)
	}
	return o
}

func (o *older) send(e message.Envelope) {
	o.t.Helper()
	if err := o.stub.Send(e); err != nil {
		o.t.Fatal(err)
	}
}

func (o *older) next() message.Envelope {
	o.t.Helper()
	select {
	case e := <-o.received:
		return e
	case <-testContext(o.t).Done():
		o.t.Fatal("nothing came")
		panic("unreachable")
	}
}

func TestPlainMessagesBothWays(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		const old = "hyperty://a.example/old"
		n := startNode(t)
		ctx := testContext(t)
		o.Name = "alice"
		alice := n.connect(t, o)
		if err := alice.Registered(ctx); err != nil {
			t.Fatal(err)
		}
		peer := startOlder(t, n, old)

		sent := alice.Post(Draft{To: old, Value: "a \"text\"", Type: "update"})
		if e := peer.next(); e.Type != message.Update || e.From != alice.Address() || e.To != old || string(e.Body) != `{"value":"a \"text\""}` {
			t.Errorf("%+v %s", e, e.Body)
		}
		if r, err := sent.Wait(ctx); err != nil || r.Delivered || r.Path != Relay {
			t.Errorf("%+v %v", r, err)
		}
		if err := alice.Send(ctx, old, []byte{1}); code(err) != UnsupportedPayload {
			t.Errorf("bytes: %v", err)
		}

		answers := make(chan *Message, 1)
		go func() {
			m, err := alice.Request(ctx, old, map[string]int{"n": 1})
			if err != nil {
				t.Errorf("request: %v", err)
			}
			answers <- m
		}()
		e := peer.next()
		peer.send(message.Envelope{ID: e.ID, Type: message.Response, From: e.To, To: e.From, Body: []byte(`{"code":200,"value":[1]}`)})
		if m := <-answers; m != nil && (m.Text() != "[1]" || m.Code != 200) {
			t.Errorf("%+v", m)
		}

		peer.send(message.Envelope{ID: 77, Type: message.Read, From: old, To: alice.Address(), Body: []byte(`{"resource":"x","__proto__":1}`)})
		m, err := alice.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if m.Type != "read" || !m.WantsReply() || m.From != old || m.Path != Relay || m.Text() != `{"resource":"x","__proto__":1}` {
			t.Errorf("%+v %s", m, m.Text())
		}
		m.ReplyCode(404, "no")
		if e := peer.next(); e.Type != message.Response || e.ID != 77 || e.From != alice.Address() || string(e.Body) != `{"code":404,"value":"no"}` {
			t.Errorf("%+v %s", e, e.Body)
		}

		// A request for an address of this runtime that nobody listens at.
		peer.send(message.Envelope{ID: 78, Type: message.Create, From: old, To: alice.URL() + "/nothing", Body: []byte(`{}`)})
		if e := peer.next(); e.ID != 78 || e.Type != message.Response || !isRefusal(e.Body, `"code":404`) {
			t.Errorf("%+v %s", e, e.Body)
		}
		// Nothing that needs no answer gets one.
		peer.send(message.Envelope{ID: 79, Type: message.Event, From: old, To: alice.URL() + "/nothing", Body: []byte(`{}`)})
		peer.send(message.Envelope{ID: 80, Type: message.Event, From: old, To: alice.Address(), Body: []byte(`{"value":"last"}`)})
		if m, err := alice.Receive(ctx); err != nil || m.Text() != "last" || m.WantsReply() {
			t.Errorf("%+v %v", m, err)
		}
		if len(peer.received) > 0 {
			t.Errorf("%+v", <-peer.received)
		}
	})
}

func isRefusal(body []byte, code string) bool {
	return len(body) > len(code) && string(body[1:1+len(code)]) == code
}

// Late and wrong answers change nothing.
func TestAnswersToNothing(t *testing.T) {
	const old = "hyperty://a.example/old"
	n := startNode(t)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	alice := n.connect(t, Options{Name: "alice"})
	if err := alice.Registered(ctx); err != nil {
		t.Fatal(err)
	}
	peer := startOlder(t, n, old)
	answers := make(chan error, 1)
	go func() {
		_, err := alice.Request(ctx, old, 1)
		answers <- err
	}()
	e := peer.next()
	answer := func(id uint64, body string) {
		peer.send(message.Envelope{ID: id, Type: message.Response, From: e.To, To: e.From, Body: []byte(body)})
	}
	answer(e.ID+1, `{"code":200}`)
	answer(e.ID, `{"code":100}`) // provisional
	answer(e.ID, `{"value":1}`)  // no code: 500
	if err := <-answers; code(err) != Refused {
		t.Errorf("%v", err)
	}
	answer(e.ID, `{"code":200}`)
	peer.send(message.Envelope{ID: 5, Type: message.Event, From: old, To: alice.Address(), Body: []byte(`{"value":"end"}`)})
	if m, err := alice.Receive(ctx); err != nil || m.Text() != "end" {
		t.Errorf("%+v %v", m, err)
	}
}

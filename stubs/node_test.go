package stubs

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/message"
)

const taken = `{"code":200,"runtimeToken":"the-token","iceServers":[{"urls":"stun:one"},{"urls":["turn:two"],"username":"u","credential":"c"},{"urls":3}]}`

func TestOpenIsSignedAndLiveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proofs := make(chan error, 1)
		answer := make(chan struct{})
		s := newScripted(t, func(p *peer) {
			p.handshake(testDomain)
			e, _ := p.read()
			var proof identity.Proof
			err := json.Unmarshal(e.Body, &proof)
			if err == nil {
				err = identity.VerifyOpen(proof, p.nonce, address.MustParse(e.From), testDomain)
			}
			proofs <- err
			// What is behind the open is there before its answer.
			behind, _ := p.read()
			if behind.Type != message.Subscribe || behind.To != "domain://msg-node.a.example/sm" || string(behind.Body) != `{"subscribe":["hyperty://a.example/x"]}` {
				t.Errorf("behind the open: %+v", behind)
			}
			<-answer
			p.say(e.ID, message.Response, "mn:/session", e.From, taken)
			p.drain()
		})
		n, events := s.stub()
		n.Connect()
		if c := status(t, events, Live); c.Resumed {
			t.Error("resumed at the first open")
		}
		if err := n.Subscribe(7, []address.Address{address.MustParse("hyperty://a.example/x")}); err != nil {
			t.Fatal(err)
		}
		if err := <-proofs; err != nil {
			t.Error(err)
		}
		close(answer)
		ice := next[Opened](t, events).ICEServers
		if len(ice) != 2 || ice[0].URLs[0] != "stun:one" || ice[1].URLs[0] != "turn:two" || ice[1].Credential != "c" {
			t.Errorf("ICE servers: %+v", ice)
		}
	})
}

func TestOpenRefused(t *testing.T) {
	for code, want := range map[string]Changed{
		"400": {Status: Failed, Reason: "malformed"},
		"401": {Status: Failed, Reason: "unauthorized"},
		"403": {Status: Failed, Reason: "forbidden"},
		"409": {Status: Failed, Reason: "taken"},
		"503": {Status: Disconnected, Reason: "refused"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScripted(t, func(p *peer) {
				p.handshake(testDomain)
				p.open(`{"code":` + code + `,"desc":"because"}`)
				p.drain()
			})
			n, events := s.stub()
			n.Connect()
			status(t, events, Live)
			if c := status(t, events, want.Status); c.Reason != want.Reason || !strings.Contains(c.Err.Error(), "because") {
				t.Errorf("%s: %+v", code, c)
			}
			if err := n.Send(message.Envelope{ID: 1}); !errors.Is(err, ErrNotLive) {
				t.Errorf("%s: send afterwards: %v", code, err)
			}
		})
	}
}

func TestReopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var connections int
		drop := make(chan struct{})
		s := newScripted(t, func(p *peer) {
			connections++
			p.handshake(testDomain)
			if connections == 1 {
				p.open(taken)
				<-drop
				return
			}
			e, _ := p.read()
			if e.Type != message.ReOpen || !strings.HasSuffix(e.From, "/the-token") {
				t.Errorf("connection %d begins with %+v", connections, e)
			}
			if connections == 2 {
				p.say(e.ID, message.Response, "mn:/session", e.From, `{"code":200,"iceServers":[{"urls":"stun:two"}]}`)
				p.say(0, message.Update, "mn:/session", e.From, `{"code":200,"iceServers":[{"urls":"stun:three"}]}`)
				<-drop
				return
			}
			p.say(e.ID, message.Response, "mn:/session", e.From, `{"code":500,"desc":"Reconnection fail. Incorrect runtime token!"}`)
			if e, _ := p.read(); e.Type != message.Open {
				t.Errorf("after the refusal: %+v", e)
			}
			p.drain()
		})
		n, events := s.stub()
		n.Connect()
		status(t, events, Live)
		next[Opened](t, events)
		drop <- struct{}{}
		status(t, events, Disconnected)
		n.Connect()
		if c := status(t, events, Live); !c.Resumed {
			t.Error("not resumed")
		}
		for _, want := range []string{"stun:two", "stun:three"} {
			if ice := next[Renewed](t, events).ICEServers; len(ice) != 1 || ice[0].URLs[0] != want {
				t.Errorf("ICE servers: %+v", ice)
			}
		}
		drop <- struct{}{}
		status(t, events, Disconnected)
		n.Connect()
		if c := status(t, events, Live); c.Resumed {
			t.Error("resumed though the token was refused")
		}
	})
}

// A socket of a network that is gone says nothing of its end: Connect does not wait for that.
func TestConnectEndsWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connections := 0
		s := newScripted(t, func(p *peer) {
			p.handshake(testDomain)
			if connections++; connections == 1 {
				p.open(taken)
			} else if e, _ := p.read(); e.Type == message.ReOpen {
				p.say(e.ID, message.Response, "mn:/session", e.From, `{"code":200}`)
			}
			p.drain()
		})
		n, events := s.stub()
		n.Connect()
		status(t, events, Live)
		next[Opened](t, events)
		n.Connect()
		// No word of the one that ended.
		if c := status(t, events, Live); !c.Resumed {
			t.Error("not resumed")
		}
		n.Connect()
		n.Connect()
		if c := status(t, events, Live); !c.Resumed {
			t.Error("not resumed")
		}
	})
}

func TestCloseCodes(t *testing.T) {
	for code, want := range map[websocket.StatusCode]Changed{
		4001:                          {Status: Failed, Reason: "superseded"},
		4002:                          {Status: Disconnected, Reason: "too-slow"},
		websocket.StatusMessageTooBig: {Status: Disconnected, Reason: "too-big"},
		websocket.StatusGoingAway:     {Status: Disconnected, Reason: "node-closed"},
		websocket.StatusInternalError: {Status: Disconnected, Reason: "lost"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScripted(t, func(p *peer) {
				p.handshake(testDomain)
				p.open(taken)
				p.conn.Close(code, "")
			})
			n, events := s.stub()
			n.Connect()
			status(t, events, Live)
			if c := status(t, events, want.Status); c.Reason != want.Reason {
				t.Errorf("%d: %+v", code, c)
			}
		})
	}
}

func TestAttemptsThatFail(t *testing.T) {
	for name, test := range map[string]struct {
		serve       func(*peer)
		subprotocol string
		want        Changed
	}{
		"wrong domain":   {func(p *peer) { p.handshake("b.example"); p.drain() }, Subprotocol, Changed{Status: Failed, Reason: "wrong-domain"}},
		"no subprotocol": {func(p *peer) { p.drain() }, "other", Changed{Status: Failed, Reason: "unsupported-node"}},
		"silence":        {func(p *peer) { p.drain() }, Subprotocol, Changed{Status: Disconnected, Reason: "timed-out"}},
		"no handshake":   {func(p *peer) { p.say(1, message.Ping, "mn:/session", "mn:/client", ""); p.drain() }, Subprotocol, Changed{Status: Disconnected, Reason: "unreachable"}},
		"no JSON": {func(p *peer) {
			p.conn.Write(context.Background(), websocket.MessageText, []byte("{"))
			p.drain()
		}, Subprotocol, Changed{Status: Disconnected, Reason: "unreachable"}},
		"no nonce":   {func(p *peer) { p.nonce = ""; p.handshake(testDomain); p.drain() }, Subprotocol, Changed{Status: Disconnected, Reason: "unreachable"}},
		"evil nonce": {func(p *peer) { p.nonce = strings.Repeat("\n", 30); p.handshake(testDomain); p.drain() }, Subprotocol, Changed{Status: Failed, Reason: "bad-proof"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScripted(t, test.serve)
			s.subprotocol = test.subprotocol
			n, events := s.stub()
			n.Connect()
			if c := status(t, events, test.want.Status); c.Reason != test.want.Reason || c.Err == nil {
				t.Errorf("%s: %+v", name, c)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, func(*peer) {})
		s.Close()
		n, events := s.stub()
		n.Connect()
		if c := status(t, events, Disconnected); c.Reason != "unreachable" {
			t.Errorf("no server: %+v", c)
		}
	})
}

func TestSilentSocketIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pings = 4
		s := newScripted(t, func(p *peer) {
			p.handshake(testDomain)
			p.open(taken)
			go p.drain()
			for range pings {
				time.Sleep(25 * time.Second)
				if err := p.conn.Ping(context.Background()); err != nil {
					t.Error(err)
				}
			}
			<-p.over // half-open from here on: nothing comes, nothing is refused
		})
		n, events := s.stub()
		n.Connect()
		status(t, events, Live)
		start := time.Now()
		if c := status(t, events, Disconnected); c.Reason != "lost" {
			t.Errorf("%+v", c)
		}
		if gap := time.Since(start); gap < pings*25*time.Second+silence || gap > pings*25*time.Second+silence+time.Second {
			t.Errorf("noticed after %v", gap)
		}
	})
}

func TestBadFramesAreComplaints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		head, err := (&frame.Header{Tag: 1}).Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		good := append(append(frame.AppendForward(nil, 5), head...), "payload"...)
		s := newScripted(t, func(p *peer) {
			p.handshake(testDomain)
			p.open(taken)
			for _, b := range [][]byte{
				{}, {9}, {frame.KindForward}, {frame.KindForward, 1}, {frame.KindForward, 1, 60, 1},
				frame.AppendName(nil, 5, "hyperty://b.example/y"), frame.AppendName(nil, 5, "runtime://b.example/r"),
				frame.AppendNotice(nil, 5, frame.NoticeFull, head), good,
			} {
				p.conn.Write(context.Background(), websocket.MessageBinary, b)
			}
			p.conn.Write(context.Background(), websocket.MessageText, []byte(`{"id":1}`))
			p.drain()
		})
		n, events := s.stub()
		n.Connect()
		status(t, events, Live)
		next[Opened](t, events)
		for range 6 {
			if e, ok := (<-events).(Complained); !ok || e.Text == "" {
				t.Errorf("%+v", e)
			}
		}
		if e := (<-events).(Named); e.Handle != 5 || e.Runtime.String() != "runtime://b.example/r" {
			t.Errorf("%+v", e)
		}
		if e := (<-events).(Noticed); e.Reason != frame.NoticeFull || string(e.Head) != string(head) {
			t.Errorf("%+v", e)
		}
		if e := (<-events).(Frame); e.Handle != 5 || string(e.Head) != string(head) || string(e.Payload) != "payload" {
			t.Errorf("%+v", e)
		}
		if e, ok := (<-events).(Complained); !ok {
			t.Errorf("%+v", e)
		}
	})
}

func TestCloseSaysGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan message.Type, 8)
		s := newScripted(t, func(p *peer) {
			p.handshake(testDomain)
			p.open(taken)
			for {
				e, ok := p.read()
				if !ok {
					return
				}
				said <- e.Type
				if e.Type == message.Close {
					p.conn.Close(4000, "closed by client")
				}
			}
		})
		n, events := s.stub()
		n.Connect()
		status(t, events, Live)
		next[Opened](t, events)
		n.Send(message.Envelope{ID: 1, Type: message.Event, From: "hyperty://a.example/x", To: "hyperty://a.example/y"})
		start := time.Now()
		n.Close()
		<-n.Done()
		if got := []message.Type{<-said, <-said}; got[0] != message.Event || got[1] != message.Close {
			t.Errorf("the node heard %v", got)
		}
		if time.Since(start) > goodbye/2 {
			t.Errorf("took %v", time.Since(start))
		}
		if len(events) > 0 {
			t.Errorf("after Close: %+v", <-events)
		}
	})
}

func TestCloseDoesNotWaitForADeadNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScripted(t, func(p *peer) {
			p.handshake(testDomain)
			p.open(taken)
			<-p.over
		})
		n, events := s.stub()
		n.Connect()
		status(t, events, Live)
		next[Opened](t, events)
		start := time.Now()
		n.Close()
		<-n.Done()
		if time.Since(start) > goodbye {
			t.Errorf("took %v", time.Since(start))
		}
	})
}

func TestCloseEndsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, _ := identity.New()
		runtime, _ := key.RuntimeURL(testDomain)
		n := NewNode(NodeConfig{URL: "ws://node/ws", Domain: testDomain, Runtime: runtime, Key: key, Sink: func(Event) {},
			Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}}, nil)
		n.Connect()
		synctest.Wait()
		n.Close()
		<-n.Done()
	})
}

package p2p

import (
	"sync"
	"testing"

	"github.com/pion/transport/v5"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
)

// side is one endpoint, whose signals go to another one as a Message Node would pass them on.
type side struct {
	t        *testing.T
	endpoint *Endpoint
	runtime  address.Address
	mu       sync.Mutex
	other    *side
	incoming func(Incoming)               // what verified
	filter   func(*message.Envelope) bool // false: the signal is lost
}

func newSide(t *testing.T, change func(*Options)) *side {
	t.Helper()
	key, err := identity.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &side{t: t}
	if s.runtime, err = key.RuntimeURL("a.example"); err != nil {
		t.Fatal(err)
	}
	o := Options{Runtime: s.runtime, Key: key, Loopback: true, Send: s.send}
	if change != nil {
		change(&o)
	}
	if s.endpoint, err = New(o); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *side) send(_ address.Address, m message.Envelope) error {
	s.mu.Lock()
	filter, other := s.filter, s.other
	s.mu.Unlock()
	if filter != nil && !filter(&m) || other == nil {
		return nil
	}
	if !other.endpoint.IsSignal(m) {
		s.t.Errorf("a signal to %s", m.To)
	}
	in, err := other.endpoint.Receive(m)
	if err != nil {
		s.t.Logf("a signal was dropped: %v", err)
		return nil
	}
	if other.incoming != nil {
		other.incoming(in)
	}
	return nil
}

func twoSides(t *testing.T, netA, netB transport.Net) (a, b *side) {
	loopback := func(net transport.Net) func(*Options) {
		return func(o *Options) {
			o.Net = net
			o.Loopback = net == nil
		}
	}
	a, b = newSide(t, loopback(netA)), newSide(t, loopback(netB))
	a.other, b.other = b, a
	return a, b
}

// joinAttempt is the attempt that join makes.
const joinAttempt = 4294967295

// join makes a connection from a to b, and returns when both stubs are live.
func join(t *testing.T, a, b *side, sinkA, sinkB func(stubs.Event)) (stubA, stubB *Stub) {
	t.Helper()
	var live sync.WaitGroup
	live.Add(2)
	watch := func(sink func(stubs.Event)) func(stubs.Event) {
		return func(e stubs.Event) {
			sink(e)
			if c, ok := e.(stubs.Changed); ok && c.Status == stubs.Live {
				live.Done()
			}
		}
	}
	answered := make(chan *Stub, 1)
	b.incoming = func(in Incoming) {
		if in.Kind == "offer" {
			answered <- b.endpoint.Answer(in.Peer, in.Attempt, watch(sinkB))
		}
	}
	stubA = a.endpoint.Dial(b.runtime, joinAttempt, watch(sinkA))
	stubB = <-answered
	live.Wait()
	return stubA, stubB
}

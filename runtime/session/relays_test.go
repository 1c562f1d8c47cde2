package session

import (
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

const otherStub = 2

// newTwoRelays is a pair of two domains: each side is attached to both nodes, and each prefers the node of the other's domain.
func newTwoRelays(t *testing.T) *pair {
	p := newPair(t)
	p.delay[otherStub] = 60
	for i, s := range p.sides {
		s.RelayOpened(otherStub)
		s.HandleNamed(otherStub, 5, p.urls[1-i])
	}
	return p
}

// from posts a message that prefers the relay home.
func (p *pair) from(i int, msg, home uint64) {
	s := p.sides[i]
	s.Advance(p.now)
	if why := s.Post(p.urls[1-i], Key{Set: Relay}, home, Message{
		Msg: msg, From: address.MustParse("hyperty://d/x"), To: address.MustParse("hyperty://d/y"), Size: 200, Deadline: p.now + 30_000,
	}); why != "" {
		p.t.Fatal(why)
	}
	p.run(i)
}

// both posts count messages each way, one each 10 ms.
func (p *pair) both(first, count int) {
	for k := range count {
		p.from(0, uint64(first+k), relayStub)
		p.from(1, uint64(first+k), otherStub)
		p.until(p.now + 10)
	}
}

func TestAnswersGoByTheRelayTheyCameBy(t *testing.T) {
	p := newTwoRelays(t)
	p.from(0, 1, otherStub)
	p.until(p.now + 2000)
	if p.settled[0][1].Outcome != Delivered || p.sent[relayStub] != 0 {
		t.Fatalf("settled %v, frames by the relay that nobody used: %d", p.settled[0], p.sent[relayStub])
	}
}

func TestEachPrefersTheOthersNode(t *testing.T) {
	p := newTwoRelays(t)
	p.both(1, 200)
	p.until(p.now + 1000)
	p.check(200)
	for i, home := range []uint64{relayStub, otherStub} {
		if stub, _, _ := p.sides[i].Path(p.urls[1-i], Key{Set: Relay}); stub != home {
			t.Errorf("side %d sends by stub %d, and not by the peer's own node", i, stub)
		}
		if n := len(p.events[i]); n > 0 {
			t.Errorf("side %d: %d events, the first is %+v", i, n, p.events[i][0])
		}
	}
}

func TestOneOfTwoRelaysStopsInSilence(t *testing.T) {
	p := newTwoRelays(t)
	p.both(1, 300)
	p.dead[relayStub] = true
	p.both(301, 2000)
	p.dead[relayStub] = false
	p.both(2301, 1000)
	p.until(p.now + 3000)
	p.check(3300)
	if p.gaps[0] > 2000 || p.gaps[1] > 2000 {
		t.Errorf("longest gaps %v", p.gaps)
	}
	paths := map[uint64]int{}
	for _, e := range p.events[0] {
		if e, ok := e.(*Preferred); ok {
			paths[e.Stub]++
		}
	}
	if paths[otherStub] != 1 || paths[relayStub] != 1 {
		t.Errorf("side 0 preferred other relays %v times; once there and once back was expected", paths)
	}
	t.Logf("gaps %v, frames %v", p.gaps, p.sent)
}

func TestOneOfTwoRelaysIsRestarted(t *testing.T) {
	for _, stub := range []uint64{relayStub, otherStub} {
		p := newTwoRelays(t)
		p.both(1, 300)
		for _, s := range p.sides {
			s.Advance(p.now)
			s.RelayGone(stub)
		}
		p.run(0)
		p.run(1)
		p.both(301, 300)
		for i, s := range p.sides {
			s.Advance(p.now)
			s.RelayOpened(stub)
			s.HandleNamed(stub, 5, p.urls[1-i])
		}
		p.run(0)
		p.run(1)
		p.both(601, 300)
		p.until(p.now + 3000)
		p.check(900)
		if p.gaps[0] > 300 || p.gaps[1] > 300 {
			t.Errorf("longest gaps %v while stub %d was away", p.gaps, stub)
		}
	}
}

// TestThePeerIsAtOneOfTwoRelays has the preferred node say that the peer is not there: it is reached by the other one at once.
func TestThePeerIsAtOneOfTwoRelays(t *testing.T) {
	p := newTwoRelays(t)
	p.both(1, 100)
	p.until(p.now + 1000)
	p.dead[relayStub] = true
	p.from(0, 101, relayStub)
	s := p.sides[0]
	s.Advance(p.now)
	s.Notice(relayStub, 1, frame.NoticeNoRuntime)
	p.run(0)
	p.from(1, 101, otherStub)
	p.until(p.now + 500)
	p.check(101)
}

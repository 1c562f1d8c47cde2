package session

import (
	"slices"
	"testing"

	"github.com/hyroute/hyroute/runtime/frame"
)

// vacated has the node say that side 1 is gone, to side 0, without any frame that it would be about.
func (p *pair) vacated() {
	s := p.sides[0]
	s.Advance(p.now)
	s.Notice(relayStub, 1, frame.NoticeNoRuntime)
	p.run(0)
}

// presence is what side 0 was told of the peer.
func (p *pair) presence() (told []Presence) {
	for _, a := range p.events[0] {
		if e, ok := a.(*Presence); ok {
			told = append(told, *e)
		}
	}
	return told
}

// TestPeerGoneByTheNode: nothing but the node could know, so its word is passed on at once, and once.
func TestPeerGoneByTheNode(t *testing.T) {
	p := newPair(t)
	p.both(1, 10)
	p.until(p.now + 5000)
	p.dead[relayStub] = true
	p.vacated()
	p.vacated()
	gone := Presence{Peer: p.urls[1], Reason: "no-such-runtime"}
	if told := p.presence(); !slices.Equal(told, []Presence{gone}) {
		t.Fatalf("told %v", told)
	}
	p.until(p.now + 60_000)
	p.dead[relayStub] = false
	p.from(1, 11, relayStub)
	p.until(p.now + 1000)
	back := Presence{Peer: p.urls[1], Live: true, Reason: "heard"}
	if told := p.presence(); !slices.Equal(told, []Presence{gone, back}) {
		t.Fatalf("told %v", told)
	}
	p.vacated()
	s := p.sides[0]
	s.Advance(p.now)
	s.PeerBack(p.urls[1])
	p.run(0)
	back.Reason = "registered"
	if told := p.presence(); !slices.Equal(told[2:], []Presence{gone, back}) {
		t.Errorf("told %v", told)
	}
}

// rested is a pair on the direct path that has said nothing for so long.
func rested(t *testing.T, idle uint64) *pair {
	p := newPair(t)
	p.both(1, 10)
	p.channel()
	p.both(11, 100)
	p.until(p.now + 100 + idle)
	return p
}

// TestPeerThatLostItsNode is there on the data channel all the while: neither presence nor path change.
func TestPeerThatLostItsNode(t *testing.T) {
	for _, idle := range []uint64{0, 60_000} {
		p := rested(t, idle)
		before := len(p.events[0])
		p.dead[relayStub] = true
		p.vacated()
		p.until(p.now + 5000)
		if idle == 0 && len(p.events[0]) != before {
			t.Errorf("told %v", p.events[0][before:])
		}
		if told := p.presence(); len(told) > 0 {
			t.Errorf("after %d ms: told %v", idle, told)
		}
	}
}

// TestPeerGoneOnTheDirectPath: a channel is silent as long as its lease lasts, and longer where nothing flows. The node knows at once.
func TestPeerGoneOnTheDirectPath(t *testing.T) {
	for _, idle := range []uint64{0, 60_000} {
		p := rested(t, idle)
		p.dead[relayStub], p.dead[channelStub] = true, true
		p.vacated()
		p.until(p.now + DefaultNumbers().Answer)
		if told := p.presence(); len(told) > 0 {
			t.Errorf("told %v before the channel could answer", told)
		}
		p.until(p.now + 1)
		if told := p.presence(); len(told) != 1 || told[0].Live {
			t.Errorf("after %d ms: told %v", idle, told)
		}
	}
}

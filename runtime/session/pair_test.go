package session

import (
	"slices"
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/random"
)

// A pair is two tables joined by a relay and, once opened, a data channel, in virtual time.
type pair struct {
	t     *testing.T
	now   uint64
	sides [2]*Table
	urls  [2]address.Address
	wakes [2]uint64
	mail  []letter
	named [2]map[uint64]address.Address // by side and handle: what the sender means
	delay map[uint64]uint64             // by stub
	dead  map[uint64]bool               // by stub: frames vanish

	got     [2][]uint64
	settled [2]map[uint64]Settled
	paths   [2][]bool
	sent    map[uint64]int
	gaps    [2]uint64
	last    [2]uint64
	events  [2][]Action
}

type letter struct {
	at   uint64
	to   int
	stub uint64
	head []byte
	size int
	msgs []Part
}

const (
	relayStub   = 1
	channelStub = 9
)

func newPair(t *testing.T) *pair {
	p := &pair{
		t: t, now: 1,
		delay: map[uint64]uint64{relayStub: 40, channelStub: 10},
		dead:  map[uint64]bool{}, sent: map[uint64]int{},
	}
	for i, s := range []string{"runtime://d/a", "runtime://d/b"} {
		p.urls[i] = address.MustParse(s)
		p.named[i] = map[uint64]address.Address{}
		p.settled[i] = map[uint64]Settled{}
	}
	for i := range p.sides {
		p.sides[i] = New(p.urls[i], 1_700_000_000_000, random.New(uint64(i)+7), DefaultNumbers())
		p.sides[i].RelayOpened(relayStub)
		p.sides[i].HandleNamed(relayStub, 5, p.urls[1-i])
	}
	return p
}

func (p *pair) post(i int, msg uint64, size int) {
	s := p.sides[i]
	s.Advance(p.now)
	m := Message{
		Msg: msg, From: address.MustParse("hyperty://d/x"), To: address.MustParse("hyperty://d/y"),
		Size: size, Deadline: p.now + 30_000,
	}
	if why := s.Post(p.urls[1-i], Key{Set: Relay | Direct}, relayStub, m); why != "" {
		p.t.Fatalf("post: %s", why)
	}
	p.run(i)
}

// run flushes a side and carries out its actions.
func (p *pair) run(i int) {
	s := p.sides[i]
	for {
		s.Flush()
		again := false
		for _, a := range s.Actions() {
			switch a := a.(type) {
			case *Transmit:
				p.sent[a.Stub]++
				if p.dead[a.Stub] {
					continue
				}
				size := a.Pad
				for _, x := range a.Parts {
					size += x.Length
				}
				p.mail = append(p.mail, letter{p.now + p.delay[a.Stub], 1 - i, a.Stub, slices.Clone(a.Head), size, slices.Clone(a.Parts)})
			case *Arrived:
				p.got[i] = append(p.got[i], a.Receipt.End)
				p.paths[i] = append(p.paths[i], a.Direct)
				if p.last[i] != 0 {
					p.gaps[i] = max(p.gaps[i], p.now-p.last[i])
				}
				p.last[i] = p.now
				s.Taken(a.Receipt)
				again = true
			case *Settled:
				if _, twice := p.settled[i][a.Msg]; twice {
					p.t.Errorf("message %d settled twice", a.Msg)
				}
				p.settled[i][a.Msg] = *a
			case *Preferred, *Presence, *StreamReset, *Gap, *CloseChannel:
				p.events[i] = append(p.events[i], a)
			}
		}
		if !again {
			break
		}
	}
	p.wakes[i] = s.Wake()
}

// until runs the world up to the given time.
func (p *pair) until(end uint64) {
	for {
		next, what := end, -1
		for i, w := range p.wakes {
			if w != 0 && w < next {
				next, what = w, i
			}
		}
		best := -1
		for k, l := range p.mail {
			if l.at <= next && (best < 0 || l.at < p.mail[best].at) {
				best = k
			}
		}
		switch {
		case best >= 0:
			l := p.mail[best]
			p.mail = append(p.mail[:best:best], p.mail[best+1:]...)
			p.now = max(p.now, l.at)
			s := p.sides[l.to]
			s.Advance(p.now)
			handle := uint64(5)
			if l.stub == channelStub {
				handle = 0
			}
			s.FrameReceived(l.stub, handle, 1, l.head, l.size)
			p.run(l.to)
		case what >= 0:
			p.now = max(p.now, next)
			p.sides[what].Advance(p.now)
			p.run(what)
		default:
			p.now = end
			return
		}
	}
}

func (p *pair) channel() {
	for i, s := range p.sides {
		s.Advance(p.now)
		s.ChannelOpened(p.urls[1-i], relayStub, channelStub)
		p.run(i)
	}
}

// stream posts count messages each way, one each 2 ms.
func (p *pair) stream(first, count int) {
	for k := range count {
		for i := range p.sides {
			p.post(i, uint64(first+k), 200)
		}
		p.until(p.now + 2)
	}
}

func (p *pair) check(count int) {
	p.t.Helper()
	for i := range p.sides {
		if len(p.got[i]) != count {
			p.t.Errorf("side %d got %d messages, not %d", i, len(p.got[i]), count)
		}
		for k := 1; k < len(p.got[i]); k++ {
			if p.got[i][k] <= p.got[i][k-1] {
				p.t.Fatalf("side %d: out of order at %d", i, k)
			}
		}
		if len(p.settled[i]) != count {
			p.t.Errorf("side %d: %d messages are settled, not %d", i, len(p.settled[i]), count)
		}
		for m, s := range p.settled[i] {
			if s.Outcome != Delivered {
				p.t.Errorf("side %d: message %d: outcome %d", i, m, s.Outcome)
			}
		}
	}
}

// delivered checks that a message each way was, whatever became of the streams before.
func (p *pair) delivered(msg uint64) {
	p.t.Helper()
	for i := range p.sides {
		if s := p.settled[i][msg]; s.Outcome != Delivered {
			p.t.Errorf("side %d: message %d: %+v", i, msg, s)
		}
	}
}

func TestFirstContact(t *testing.T) {
	p := newPair(t)
	p.post(0, 1, 100)
	if p.sent[relayStub] != 1 {
		t.Fatalf("%d frames left in the step that accepted the message, not 1", p.sent[relayStub])
	}
	p.until(p.now + 500)
	if len(p.got[1]) != 1 || p.settled[0][1].Outcome != Delivered {
		t.Fatalf("got %v, settled %v", p.got, p.settled)
	}
	if p.sent[relayStub] > 4 {
		t.Errorf("%d frames for one message", p.sent[relayStub])
	}
	if w := p.wakes; w[0] > p.now+20_000 && w[1] != 0 {
		t.Errorf("idle sides ask to be woken: %v at %d", w, p.now)
	}
}

func TestUpgradeMidStream(t *testing.T) {
	p := newPair(t)
	p.stream(1, 500)
	p.channel()
	p.stream(501, 1000)
	p.until(p.now + 1000)
	p.check(1500)
	if n := len(p.paths[1]); !p.paths[1][n-1] {
		t.Error("the last message did not come by the channel")
	}
	if p.gaps[0] > 60 || p.gaps[1] > 60 {
		t.Errorf("longest gaps %v", p.gaps)
	}
}

func TestSilentDeathAndReturn(t *testing.T) {
	p := newPair(t)
	p.channel()
	p.stream(1, 3000)
	p.dead[channelStub] = true
	p.stream(3001, 3500)
	p.dead[channelStub] = false
	p.stream(6501, 3500)
	p.until(p.now + 2000)
	p.check(10000)
	if p.gaps[0] > 2000 || p.gaps[1] > 2000 {
		t.Errorf("longest gaps %v", p.gaps)
	}
	direct := 0
	for _, d := range p.paths[1] {
		if d {
			direct++
		}
	}
	if direct < 4000 || direct > 8000 {
		t.Errorf("%d of 10000 came by the channel", direct)
	}
	t.Logf("gaps %v, direct %d, frames %v", p.gaps, direct, p.sent)
}

// TestIdleForADay: the peer forgot the session, and the next message arrives all the same.
func TestIdleForADay(t *testing.T) {
	for _, forgets := range []int{0, 1} {
		p := newPair(t)
		p.both(1, 10)
		p.until(p.now + 2000)
		p.check(10)
		p.now += DefaultNumbers().Forget + 10_000
		s := p.sides[forgets]
		s.Advance(p.now)
		p.run(forgets)
		if s.sessions.Len() != 0 {
			t.Fatalf("side %d remembers %d sessions that were idle for a day", forgets, s.sessions.Len())
		}
		p.from(0, 11, relayStub)
		p.from(1, 11, relayStub)
		p.until(p.now + 5000)
		p.delivered(11)
	}
}

func TestLargeMessage(t *testing.T) {
	p := newPair(t)
	p.post(0, 1, 16<<20)
	p.until(p.now + 20_000)
	if p.settled[0][1].Outcome != Delivered {
		t.Fatalf("settled %v", p.settled[0])
	}
}

package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

var (
	self  = address.MustParse("runtime://d/self")
	other = address.MustParse("runtime://d/other")
	here  = address.MustParse("hyperty://d/here")
	there = address.MustParse("hyperty://d/there")
)

// scrawl makes events out of chance: sensible and senseless ones, with numbers that sometimes fit.
type scrawl struct {
	r    *rand.Rand
	msgs uint64
}

func (s *scrawl) number() uint64 { return s.r.Uint64N(12) }

func (s *scrawl) address() address.Address {
	all := []string{
		"hyperty://d/here", "hyperty://d/there", "hyperty://d/gone", "runtime://d/self/x", "runtime://d/other", "runtime://d/other/p2p",
		"domain://registry.d", "domain://msg-node.d/sm", "comm://d/o/changes", "hyperty://foreign/x", "queue://foo", "global://registry",
	}
	return address.MustParse(all[s.r.IntN(len(all))])
}

func (s *scrawl) head() []byte {
	h := frame.Header{Done: s.number(), Ping: s.r.Uint32N(3), Pong: s.r.Uint32N(3)}
	h.Seen = h.Done + s.number()
	if s.r.IntN(3) > 0 {
		h.Long = true
		h.Hello = frame.Hello{
			Src: s.r.Uint64N(1 << 14), Dst: s.r.Uint64N(1 << 14), Have: s.r.Uint64N(1 << 14), Base: s.number(), Set: uint8(1 + s.r.IntN(3)),
			Window: 1 << 20, Largest: 1 << 24,
		}
	}
	for range s.r.IntN(4) {
		c := frame.Chunk{Flags: []frame.ChunkFlags{frame.Begin, frame.End, frame.Begin | frame.End, frame.Tomb, frame.Refuse}[s.r.IntN(5)]}
		if s.r.IntN(4) == 0 {
			c = frame.Chunk{Flags: frame.Def, From: s.address().String(), To: s.address().String()}
		}
		c.Flow, c.Number = s.number(), s.number()
		h.Chunks = append(h.Chunks, c)
	}
	h.First = 1 + s.number()
	b, err := h.Append(nil)
	if err != nil {
		return nil
	}
	if s.r.IntN(8) == 0 && len(b) > 0 {
		b[s.r.IntN(len(b))] ^= byte(s.r.Uint32())
	}
	return b
}

func (s *scrawl) event() Event {
	switch s.r.IntN(21) {
	case 0:
		return &EndpointRegistered{Address: s.address()}
	case 1:
		return &EndpointUnregistered{Address: s.address()}
	case 2, 3, 4:
		s.msgs++
		return &MessagePosted{Msg: s.msgs, From: here, To: s.address(), Size: s.r.IntN(40_000), Deadline: s.r.Uint64N(20_000)}
	case 5:
		return &AnswerReceived{Msg: s.number()}
	case 6, 7, 8:
		return &FrameReceived{Stub: s.number(), Handle: s.r.Uint64N(3), Frame: s.number(), Head: s.head(), Size: 0}
	case 9:
		return &HandleNamed{Stub: s.number(), Handle: s.r.Uint64N(3), Runtime: []address.Address{other, self, here, {}}[s.r.IntN(4)]}
	case 10:
		return &NoticeReceived{Stub: s.number(), Handle: s.r.Uint64N(3), Reason: s.r.Uint64N(6)}
	case 11:
		return &JSONReceived{JSON: s.number(), Stub: s.number(), From: s.address(), To: s.address()}
	case 12, 13:
		return &StubChanged{Stub: 1 + s.r.Uint64N(4), Status: Status(s.r.IntN(5)), Resumed: s.r.IntN(2) == 0}
	case 14:
		return &StubBlocked{Stub: s.number()}
	case 15:
		return &StubWritable{Stub: s.number()}
	case 16:
		a := &RegistryAnswered{Job: s.r.Uint64N(60), Code: []uint64{200, 403, 404, 408, 500}[s.r.IntN(5)], Sessions: s.r.IntN(4) > 0}
		if a.Code == 200 {
			a.Runtime = []address.Address{other, self, {}}[s.r.IntN(3)]
		}
		return a
	case 17:
		return &SignalReceived{Peer: other, Kind: []string{"invite", "accept", "refuse", "offer", "bye", "?"}[s.r.IntN(6)], Attempt: s.r.Uint64N(3)}
	case 18:
		return &DeliveryTaken{Delivery: s.number()}
	case 19:
		if s.r.IntN(4) == 0 {
			return &Restored{Wall: s.r.Uint64N(1 << 50), Seed: s.r.Uint64()}
		}
	}
	return &PeerListed{Peer: other, Addresses: []address.Address{there, s.address()}}
}

// play runs a machine on chance until its last timer, and gives what came and what went.
func play(t testing.TB, seed uint64, each func(e *Engine, now Instant, events []Event, effects []Effect)) {
	t.Helper()
	s := &scrawl{r: rand.New(rand.NewPCG(seed, 1))}
	e, effects, err := New(Config{Runtime: self, Wall: 1_700_000_000_000, Seed: seed, Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	now, wake := Instant(0), Instant(0)
	note := func(effects []Effect) {
		for _, f := range effects {
			if w, ok := f.(*Wake); ok {
				wake = w.At
			}
		}
	}
	note(effects)
	each(e, now, nil, effects)
	step := func(events ...Event) {
		effects := e.Step(now, events...)
		note(effects)
		each(e, now, events, effects)
	}
	step(&EndpointRegistered{Address: here}, &StubChanged{Stub: 1, Status: StatusLive}, &HandleNamed{Stub: 1, Handle: 1, Runtime: other})
	for range 300 {
		now += Instant(s.r.Uint64N(300))
		var events []Event
		for range 1 + s.r.IntN(3) {
			events = append(events, s.event())
		}
		step(events...)
	}
	for range 2000 {
		if wake == 0 || now > 1_000_000 {
			return
		}
		now = max(now, wake)
		wake = 0
		step(&TimePassed{})
	}
}

const seeds = 150

func TestEveryPostedMessageIsSettledOnce(t *testing.T) {
	for seed := range uint64(seeds) {
		posted, settled, released := map[uint64]bool{}, map[uint64]int{}, map[uint64]int{}
		play(t, seed, func(_ *Engine, _ Instant, events []Event, effects []Effect) {
			for _, ev := range events {
				if p, ok := ev.(*MessagePosted); ok {
					posted[p.Msg] = true
				}
			}
			for _, f := range effects {
				switch f := f.(type) {
				case *Settle:
					settled[f.Msg]++
				case *Release:
					released[f.Msg]++
				case *Transmit:
					for _, p := range f.Parts {
						if released[p.Msg] > 0 {
							t.Fatalf("seed %d: message %d is sent after its release", seed, p.Msg)
						}
					}
				}
			}
		})
		for m := range posted {
			if settled[m] != 1 || released[m] != 1 {
				t.Fatalf("seed %d: message %d is settled %d times and released %d times", seed, m, settled[m], released[m])
			}
		}
	}
}

func TestEveryWaitHasADeadline(t *testing.T) {
	for seed := range uint64(seeds) {
		wake := Instant(0)
		play(t, seed, func(e *Engine, now Instant, _ []Event, effects []Effect) {
			if wake != 0 && wake <= now {
				wake = 0
			}
			for _, f := range effects {
				if w, ok := f.(*Wake); ok {
					wake = w.At
				}
			}
			for _, m := range e.messages.Values() {
				if !m.settled && wake == 0 {
					t.Fatalf("seed %d: at %d message %d waits, and no time to wake is named", seed, now, m.msg)
				}
				if !m.settled && wake > Instant(m.deadline) && m.peer.IsZero() {
					t.Fatalf("seed %d: message %d is due at %d, and the machine wakes at %d", seed, m.msg, m.deadline, wake)
				}
			}
		})
	}
}

func TestNoEventMakesStepFail(t *testing.T) {
	for seed := range uint64(seeds) {
		play(t, seed+10_000, func(*Engine, Instant, []Event, []Effect) {})
	}
}

func TestSameInSameOut(t *testing.T) {
	for seed := range uint64(seeds / 4) {
		var first []string
		play(t, seed, func(_ *Engine, now Instant, _ []Event, effects []Effect) { first = append(first, show(now, effects)) })
		i := 0
		play(t, seed, func(_ *Engine, now Instant, _ []Event, effects []Effect) {
			if again := show(now, effects); again != first[i] {
				t.Fatalf("seed %d, step %d:\n%s\n%s", seed, i, first[i], again)
			}
			i++
		})
	}
}

func show(now Instant, effects []Effect) string {
	s := fmt.Sprint(now)
	for _, f := range effects {
		s += fmt.Sprintf(" %T%+v", f, reflect.ValueOf(f).Elem().Interface())
	}
	return s
}

func TestARestoredMachineGoesOnAlike(t *testing.T) {
	for seed := range uint64(seeds / 4) {
		var events [][]Event
		var times []Instant
		var effects []string
		play(t, seed, func(_ *Engine, now Instant, ev []Event, f []Effect) {
			events, times, effects = append(events, ev), append(times, now), append(effects, show(now, f))
		})
		e, _, _ := New(Config{Runtime: self, Wall: 1_700_000_000_000, Seed: seed, Direct: true})
		for i := 1; i < len(events); i++ {
			snapshot := e.Snapshot()
			var err error
			if e, err = Restore(snapshot); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, i, err)
			}
			if got := show(times[i], e.Step(times[i], events[i]...)); got != effects[i] {
				t.Fatalf("seed %d, step %d:\n%s\n%s", seed, i, effects[i], got)
			}
		}
	}
}

func TestABackEndAddressNeverCausesARegistryQuery(t *testing.T) {
	e, _, _ := New(Config{Runtime: self, Direct: true})
	e.Step(1, &EndpointRegistered{Address: here}, &StubChanged{Stub: 1, Status: StatusLive})
	for i, to := range []string{
		"domain://registry.d", "domain://msg-node.d/sm", "global://registry", "domain-idp://d/stub/1", "hyperty://msg-node.d/x",
		"hyperty://registry.d/x", "runtime://d/other/p2phandler/1", "comm://d/o/changes",
	} {
		for _, f := range e.Step(2, &MessagePosted{Msg: uint64(i + 1), From: here, To: address.MustParse(to), Size: 1}) {
			if q, ok := f.(*QueryRegistry); ok {
				t.Errorf("%s asks for %s", to, q.Resource)
			}
		}
	}
}

func TestWhatArrivedIsNeverForwarded(t *testing.T) {
	e, _, _ := New(Config{Runtime: self, Direct: true})
	e.Step(1, &StubChanged{Stub: 1, Status: StatusLive})
	for _, to := range []string{"hyperty://d/nobody", "hyperty://foreign/x", "domain://registry.d", "runtime://d/other/x", "comm://d/o/changes"} {
		effects := e.Step(2, &JSONReceived{JSON: 7, Stub: 1, From: there, To: address.MustParse(to)})
		if len(effects) == 0 {
			t.Errorf("%s: nothing said", to)
		}
		for _, f := range effects {
			switch f.(type) {
			case *Discard, *Wake:
			default:
				t.Errorf("%s: %T", to, f)
			}
		}
	}
}

func TestTablesAreBoundedAndSaySo(t *testing.T) {
	e, _, _ := New(Config{Runtime: self, Direct: true})
	e.Step(1, &EndpointRegistered{Address: here}, &StubChanged{Stub: 1, Status: StatusLive})
	rejected := 0
	for i := range uint64(e.numbers.Waiting) + 100 {
		for _, f := range e.Step(2, &MessagePosted{Msg: i + 1, From: here, To: there, Size: 8}) {
			if s, ok := f.(*Settle); ok && s.Reason == "too-many" {
				rejected++
			}
		}
	}
	if rejected != 100 {
		t.Errorf("%d messages above the bound were rejected, not 100", rejected)
	}
	for i := range uint64(e.numbers.Endpoints) + 100 {
		e.Step(3, &EndpointRegistered{Address: address.MustParse(fmt.Sprintf("hyperty://d/e%d", i))})
	}
	if len(e.endpoints) > e.numbers.Endpoints {
		t.Errorf("%d endpoints", len(e.endpoints))
	}
}

package world

import (
	"slices"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/frame"
)

// hostile gives only the machine of body a a fault: one that means harm to its peers.
func hostile(fault func() func([]engine.Effect) []engine.Effect) Kit {
	return Kit{New: func(name string, c engine.Config) (machine.Machine, []engine.Effect, error) {
		m, effects, err := machine.Linked(c)
		if name != "a" {
			return m, effects, err
		}
		return &faulty{m, fault()}, effects, err
	}}
}

// TestForgedSenderIsNeverBelieved has a peer that says its messages come from addresses of others. What comes from it may be
// refused or late; nobody is ever handed it in another's name.
func TestForgedSenderIsNeverBelieved(t *testing.T) {
	forged, seeds := 0, uint64(150)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		p := Generate(seed)
		victim := p.Bodies[len(p.Bodies)-1].Endpoints[0]
		p.Actions = slices.DeleteFunc(p.Actions, func(a Action) bool { return a.Do == Move }) // it might move to the liar
		kit := hostile(reframe(func(h *frame.Header) bool {
			for i := range h.Chunks {
				if c := &h.Chunks[i]; c.Flags&frame.Def != 0 {
					c.From = victim
					forged++
				}
			}
			return true
		}))
		if r := Run(p, kit, nil); r.Failure != nil && r.Failure.Rule == "history altered" {
			t.Fatalf("seed %d: %v", seed, r.Failure)
		}
	}
	if forged == 0 {
		t.Error("nothing was forged")
	}
}

// ofThePeer are promises that a hostile peer can break for what it sends itself, and for those who send to it.
func ofThePeer(rule string) bool {
	return strings.HasPrefix(rule, "history ") || slices.Contains([]string{"content-whole", "calm-delivers", "nothing-leaks"}, rule)
}

// TestHostilePeerHarmsOnlyItself has a peer that sends frames in which any field may be wrong. Those who get them must stay
// within bounds, settle what was posted once and in time, and keep all else that a body relies on.
func TestHostilePeerHarmsOnlyItself(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	spoiled := 0
	for seed := range seeds {
		c := newChance(seed, "hostile")
		kit := hostile(reframe(func(h *frame.Header) bool {
			if !c.percent(20) {
				return true
			}
			spoiled++
			spoil(c, h)
			return true
		}))
		r := Run(Generate(seed), kit, nil)
		if r.Failure != nil && !ofThePeer(r.Failure.Rule) && !strings.HasPrefix(r.Failure.Text, "a: ") {
			t.Errorf("seed %d: %v", seed, r.Failure)
		}
	}
	if spoiled == 0 {
		t.Error("nothing was spoiled")
	}
}

// spoil makes fields of a header wrong, such that it can still be read.
func spoil(c *chance, h *frame.Header) {
	odd := func() uint64 {
		return pick(c, 0, 1, 2, 7, 63, 64, 1<<14, 1<<30, 1<<40, uint64(frame.MaxVarint)/2, c.next()>>3)
	}
	for range c.between(1, 3) {
		switch c.below(14) {
		case 0:
			h.Done = min(odd(), h.Seen)
		case 1:
			h.Seen = max(h.Done, odd())
		case 2:
			h.Done, h.Seen = h.Done+1, h.Seen+1
		case 3:
			h.First = max(1, odd())
		case 4:
			h.First++
		case 5:
			h.Tag = uint32(c.next())
		case 6:
			h.Hello.Src = max(1, odd())
		case 7:
			h.Hello.Dst = odd()
		case 8:
			h.Hello.Have = odd()
		case 9:
			h.Hello.Base = odd()
		case 10:
			h.Hello.Window, h.Hello.Largest = odd(), odd()
		case 11:
			h.Hello.Continues = append(h.Hello.Continues[:0:0], frame.Continue{Inc: odd(), Fork: odd()})
		case 12:
			h.Ping, h.Pong = uint32(c.next())|1, uint32(c.next())|1
		case 13:
			for i := range h.Chunks {
				k := &h.Chunks[i]
				switch {
				case k.Flags&frame.Refuse != 0:
					k.Number, k.Inc, k.Code = odd(), odd(), uint8(c.next())
				case k.Flags&frame.Def != 0:
					k.Flow = odd()
					k.To = pick(c, k.To, "", "not an address", "runtime://x/y", strings.Repeat("a", 300))
				default:
					k.Flags ^= pick(c, frame.Begin, frame.End)
					k.Flow = odd()
				}
			}
		}
	}
}

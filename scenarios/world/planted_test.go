package world

import (
	"strings"
	"testing"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/frame"
)

// faulty is a machine whose effects are changed on their way out, as if it had a fault.
type faulty struct {
	machine.Machine
	change func([]engine.Effect) []engine.Effect
}

func (f *faulty) Step(now engine.Instant, events ...engine.Event) ([]engine.Effect, error) {
	effects, err := f.Machine.Step(now, events...)
	return f.change(effects), err
}

// plant gives each machine of a world a fault of its own.
func plant(fault func() func([]engine.Effect) []engine.Effect) Kit {
	return Kit{New: func(_ string, c engine.Config) (machine.Machine, []engine.Effect, error) {
		m, effects, err := machine.Linked(c)
		return &faulty{m, fault()}, effects, err
	}}
}

// each changes effects one by one; what it gives back takes their place.
func each(change func(engine.Effect) []engine.Effect) func() func([]engine.Effect) []engine.Effect {
	return func() func([]engine.Effect) []engine.Effect {
		return func(effects []engine.Effect) []engine.Effect {
			var all []engine.Effect
			for _, e := range effects {
				all = append(all, change(e)...)
			}
			return all
		}
	}
}

// reframe changes the headers of all frames that leave. A frame that change refuses does not leave.
func reframe(change func(*frame.Header) bool) func() func([]engine.Effect) []engine.Effect {
	return each(func(e engine.Effect) []engine.Effect {
		t, ok := e.(*engine.Transmit)
		if !ok {
			return []engine.Effect{e}
		}
		payload := t.Pad
		for _, p := range t.Parts {
			payload += p.Length
		}
		h, err := frame.Read(t.Head, payload)
		if err != nil || !change(&h) {
			return nil
		}
		head, err := h.Append(nil)
		if err != nil {
			return nil
		}
		changed := *t
		changed.Head = head
		return []engine.Effect{&changed}
	})
}

// planted are faults that a machine could have, in the words of session.md. Each must be caught by a few worlds.
var planted = map[string]func() func([]engine.Effect) []engine.Effect{
	"the gate of done swallowed: what was seen counts as taken": reframe(func(h *frame.Header) bool {
		h.Done = h.Seen
		return true
	}),
	"more seen than came": reframe(func(h *frame.Header) bool {
		if h.Seen > h.Done {
			h.Seen++
		}
		return true
	}),
	"a tombstone dropped": reframe(func(h *frame.Header) bool {
		for _, c := range h.Chunks {
			if c.Flags&frame.Tomb != 0 {
				return false
			}
		}
		return true
	}),
	"a tombstone sent as content": reframe(func(h *frame.Header) bool {
		for i := range h.Chunks {
			if h.Chunks[i].Flags&frame.Tomb != 0 {
				h.Chunks[i].Flags &^= frame.Tomb
			}
		}
		return true
	}),
	"flows mixed up": reframe(func(h *frame.Header) bool {
		for i := range h.Chunks {
			if c := &h.Chunks[i]; c.Flags&(frame.Begin|frame.Def) != 0 && c.Flow == 1 {
				c.Flow = 0
			}
		}
		return true
	}),
	"a settle forgotten": func() func([]engine.Effect) []engine.Effect {
		n := 0
		return each(func(e engine.Effect) []engine.Effect {
			if _, ok := e.(*engine.Settle); ok {
				if n++; n%10 == 0 {
					return nil
				}
			}
			return []engine.Effect{e}
		})()
	},
	"a release forgotten": func() func([]engine.Effect) []engine.Effect {
		n := 0
		return each(func(e engine.Effect) []engine.Effect {
			if _, ok := e.(*engine.Release); ok {
				if n++; n%10 == 0 {
					return nil
				}
			}
			return []engine.Effect{e}
		})()
	},
	"released before it is acknowledged": each(func(e engine.Effect) []engine.Effect {
		if t, ok := e.(*engine.Transmit); ok && len(t.Parts) > 0 {
			return []engine.Effect{e, &engine.Release{Msg: t.Parts[0].Msg}}
		}
		if _, ok := e.(*engine.Release); ok {
			return nil
		}
		return []engine.Effect{e}
	}),
	"delivered twice": func() func([]engine.Effect) []engine.Effect {
		return func(effects []engine.Effect) []engine.Effect {
			for _, e := range effects {
				if d, ok := e.(*engine.Deliver); ok && d.Msg != 0 {
					again := *d
					again.Delivery += 1 << 40
					return append(effects, &again)
				}
			}
			return effects
		}
	},
	"hand-over reordered": func() func([]engine.Effect) []engine.Effect {
		return func(effects []engine.Effect) []engine.Effect {
			var all, handed []engine.Effect
			for _, e := range effects {
				if d, ok := e.(*engine.Deliver); ok && d.Session != 0 {
					handed = append([]engine.Effect{e}, handed...)
				} else {
					all = append(all, e)
				}
			}
			return append(all, handed...)
		}
	},
	"a chunk not held": func() func([]engine.Effect) []engine.Effect {
		n := 0
		return each(func(e engine.Effect) []engine.Effect {
			if _, ok := e.(*engine.Hold); ok {
				if n++; n%20 == 0 {
					return nil
				}
			}
			return []engine.Effect{e}
		})()
	},
	"a maybe told as sure": each(func(e engine.Effect) []engine.Effect {
		if s, ok := e.(*engine.Settle); ok && s.Maybe {
			sure := *s
			sure.Maybe = false
			return []engine.Effect{&sure}
		}
		return []engine.Effect{e}
	}),
	"a gap not told": each(func(e engine.Effect) []engine.Effect {
		if _, ok := e.(*engine.Gap); ok {
			return nil
		}
		return []engine.Effect{e}
	}),
	"a session-reset not told": each(func(e engine.Effect) []engine.Effect {
		if _, ok := e.(*engine.SessionReset); ok {
			return nil
		}
		return []engine.Effect{e}
	}),
	"a timer forgotten": func() func([]engine.Effect) []engine.Effect {
		n := 0
		return each(func(e engine.Effect) []engine.Effect {
			if _, ok := e.(*engine.Wake); ok {
				if n++; n%50 == 0 {
					return nil
				}
			}
			return []engine.Effect{e}
		})()
	},
}

// TestPlantedPanicIsKept has a machine that panics in the midst of its work: that is a promise broken like others.
func TestPlantedPanicIsKept(t *testing.T) {
	kit := plant(each(func(e engine.Effect) []engine.Effect {
		if _, ok := e.(*engine.Deliver); ok {
			panic("planted")
		}
		return []engine.Effect{e}
	}))
	f := Run(Generate(1), kit, nil).Failure
	if f == nil || f.Rule != "no-panic" || !strings.HasPrefix(f.Text, "planted\n") || !strings.Contains(f.Text, "world.(*faulty).Step") {
		t.Errorf("a machine that panics: %v", f)
	}
}

// plantedSeeds is how many worlds a planted fault may go through unseen.
const plantedSeeds = 400

// TestPlantedFaultsAreCaught shows that these worlds would see faults, were there any.
func TestPlantedFaultsAreCaught(t *testing.T) {
	for name, fault := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := plant(fault)
			for seed := range uint64(plantedSeeds) {
				r := Run(Generate(seed), kit, nil)
				if r.Failure != nil && Run(Generate(seed), Linked(), nil).Failure == nil {
					t.Logf("seed %d: %s", seed, r.Failure.Rule)
					return
				}
			}
			t.Errorf("not caught in %d worlds", plantedSeeds)
		})
	}
}

// TestPlantedStaleRestoreIsCaught has a machine that comes back from a trap without what happened since its snapshot.
func TestPlantedStaleRestoreIsCaught(t *testing.T) {
	kit := Linked()
	kit.Every = 50
	restore := kit.Restore
	kit.Restore = func(snapshot []byte) (machine.Machine, error) {
		m, err := restore(snapshot)
		return &deaf{m}, err
	}
	for seed := range uint64(20) {
		if r := Run(Generate(seed), kit, nil); r.Failure != nil && r.Failure.Rule == "restore-is-equal" {
			return
		}
	}
	t.Error("not caught")
}

// deaf does not hear what the journal tells it.
type deaf struct{ machine.Machine }

func (*deaf) Step(engine.Instant, ...engine.Event) ([]engine.Effect, error) { return nil, nil }

package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
)

// Maker makes machines: anew, with the effects of the start, or from a snapshot.
type Maker struct {
	New     func(engine.Config) (machine.Machine, []engine.Effect, error)
	Restore func(snapshot []byte) (machine.Machine, error)
}

// Native makes the engine of this program.
func Native() Maker { return Maker{machine.Linked, machine.RestoreLinked} }

// Wazero makes the module under wazero.
func Wazero(wasm []byte) Maker {
	return Maker{
		func(c engine.Config) (machine.Machine, []engine.Effect, error) {
			return machine.Module(wasm, c, machine.Options{})
		},
		func(snapshot []byte) (machine.Machine, error) {
			return machine.RestoreModule(wasm, snapshot, machine.Options{})
		},
	}
}

// Play gives the scenario to a new machine and says where it first answers otherwise.
func (s *Scenario) Play(make Maker) error {
	return s.play(make, func(b *Block, got []string) error {
		if slices.Equal(got, b.Output) {
			return nil
		}
		for i := range max(len(got), len(b.Output)) {
			have, want := "nothing", "nothing"
			if i < len(got) {
				have = got[i]
			}
			if i < len(b.Output) {
				want = b.Output[i]
			}
			if have != want {
				return fmt.Errorf("%s:%d: after\n%s\neffect %d is\n%s\nand not\n%s", s.Name, b.Line, strings.Join(b.Input, "\n"), i+1,
					withNote(have), withNote(want))
			}
		}
		return nil
	})
}

func withNote(line string) string {
	if text := describe(line); text != "" {
		return line + "\n" + note + text
	}
	return line
}

// Bless puts what a new machine answers in the place of the expected output.
func (s *Scenario) Bless(make Maker) error {
	return s.play(make, func(b *Block, got []string) error {
		b.Output = got
		return nil
	})
}

func (s *Scenario) play(make Maker, answered func(*Block, []string) error) error {
	var d wire.Decoder
	config, err := d.Open([]byte(s.Blocks[0].Input[0]))
	if err != nil {
		return fmt.Errorf("%s:%d: %w", s.Name, s.Blocks[0].Line, err)
	}
	m, effects, err := make.New(config)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", s.Name, s.Blocks[0].Line, err)
	}
	defer func() { m.Close() }()
	var saved []byte
	for i := range s.Blocks {
		b := &s.Blocks[i]
		switch {
		case i == 0:
		case b.Input[0] == save:
			effects = nil
			saved, err = m.Snapshot()
		case b.Input[0] == restore:
			effects = nil
			m.Close()
			m, err = make.Restore(saved)
		default:
			var now engine.Instant
			var events []engine.Event
			if now, events, err = d.Frame([]byte(strings.Join(b.Input, "\n") + "\n")); err == nil {
				effects, err = m.Step(now, events...)
			}
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", s.Name, b.Line, err)
		}
		var got []string
		for _, e := range effects {
			got = append(got, string(wire.AppendEffect(nil, e)))
		}
		if err := answered(b, got); err != nil {
			return err
		}
	}
	return nil
}

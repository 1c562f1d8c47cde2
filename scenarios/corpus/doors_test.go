package corpus

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/runtime/wire"
	"github.com/hyroute/hyroute/wasm/door"
)

// TestBothDoors plays each scenario through the text door and through the packed one: equal effects, and equal states at the end. The
// packed one begins its handles anew every few frames.
func TestBothDoors(t *testing.T) {
	all, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for anewEvery := range 3 {
			playBoth(t, s, anewEvery)
		}
	}
}

func playBoth(t *testing.T, s *Scenario, anewEvery int) {
	t.Helper()
	var text, packed door.Door
	var decoder wire.Decoder
	var packer wire.Packer
	var unpacker wire.Unpacker
	var saved []byte
	restored := false
	for i, b := range s.Blocks {
		input := []byte(strings.Join(b.Input, "\n") + "\n")
		if i == 0 {
			if _, err := packed.Open(input); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			if _, err := text.Open(input); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			continue
		}
		if b.Input[0] == save {
			saved = sameState(t, s, &text, &packed)
			continue
		}
		if b.Input[0] == restore {
			text, packed, restored = door.Door{}, door.Door{}, true
			if err := errors.Join(text.Restore(saved), packed.Restore(saved)); err != nil {
				t.Fatalf("%s:%d: %v", s.Name, b.Line, err)
			}
			continue
		}
		want, err := text.Step(input)
		if err != nil {
			t.Fatalf("%s:%d: %v", s.Name, b.Line, err)
		}
		want = slices.Clone(want)
		now, events, err := decoder.Frame(input)
		if err != nil {
			t.Fatalf("%s:%d: %v", s.Name, b.Line, err)
		}
		anew := restored || anewEvery > 0 && i%anewEvery == 0
		restored = false
		if anew {
			unpacker.Forget()
		}
		output, err := packed.StepPacked(packer.AppendFrame(nil, anew, now, events...))
		if err != nil {
			t.Fatalf("%s:%d: packed: %v", s.Name, b.Line, err)
		}
		effects, err := unpacker.Effects(output)
		if err != nil {
			t.Fatalf("%s:%d: packed effects: %v", s.Name, b.Line, err)
		}
		if got := wire.AppendEffects(nil, effects); !bytes.Equal(got, want) {
			t.Fatalf("%s:%d: the packed door gives\n%s\nand not\n%s", s.Name, b.Line, got, want)
		}
	}
	sameState(t, s, &text, &packed)
}

// sameState is the state of both.
func sameState(t *testing.T, s *Scenario, text, packed *door.Door) []byte {
	t.Helper()
	left, err := text.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	right, err := packed.Snapshot()
	if err != nil || !bytes.Equal(left, right) {
		t.Errorf("%s: the states differ (%v)", s.Name, err)
	}
	return slices.Clone(left)
}

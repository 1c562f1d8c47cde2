package world

import (
	"testing"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/wasm/wasmtest"
)

// TestModuleGivesTheSameTraces plays worlds with the WebAssembly module in the bodies: the same bytes as with the engine
// linked in. Then the machines of a world change between the two forms as they are restored.
func TestModuleGivesTheSameTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs the module")
	}
	wasm := wasmtest.Module(t)
	options := machine.Options{CacheDir: t.TempDir()}
	module := Kit{
		New: func(_ string, c engine.Config) (machine.Machine, []engine.Effect, error) {
			return machine.Module(wasm, c, options)
		},
		Restore: func(snapshot []byte) (machine.Machine, error) { return machine.RestoreModule(wasm, snapshot, options) },
	}
	restored := 0
	changing := module
	changing.Every = 300
	changing.Restore = func(snapshot []byte) (machine.Machine, error) {
		if restored++; restored%2 == 0 {
			return machine.RestoreLinked(snapshot)
		}
		return machine.RestoreModule(wasm, snapshot, options)
	}
	for seed := range uint64(12) {
		p := Generate(seed)
		linked := Run(p, Linked(), nil)
		if linked.Failure != nil {
			t.Errorf("seed %d: linked: %v", seed, linked.Failure)
			continue
		}
		for name, kit := range map[string]Kit{"module": module, "changing": changing} {
			r := Run(p, kit, nil)
			if r.Failure != nil {
				t.Errorf("seed %d: %s: %v", seed, name, r.Failure)
			} else if r.Hash != linked.Hash {
				t.Errorf("seed %d: %s: another trace than with the linked engine", seed, name)
			}
		}
	}
	if restored < 10 {
		t.Errorf("only %d restores", restored)
	}
}

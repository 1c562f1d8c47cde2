// Package machine gives a body one face for the two forms of the machine: the engine linked into this program, and the
// WebAssembly module under wazero. Both answer the same events with the same effects; every test of the body runs on both.
package machine

import "github.com/hyroute/hyroute/runtime/engine"

// Machine decides what a body does. It is used by one goroutine at a time.
type Machine interface {
	// Step tells the machine what happened and returns what the body must now do, in order. The
	// effects are good until the next Step. An error that is a *TrapError means that these events were left out: the machine
	// has been set up again as it was before them, and goes on. Any other error is final.
	Step(now engine.Instant, events ...engine.Event) ([]engine.Effect, error)

	// Snapshot is the whole state, for RestoreLinked or RestoreModule. It changes nothing.
	Snapshot() ([]byte, error)

	// Close frees what the machine holds. Step and Snapshot fail afterwards.
	Close() error
}

package engine

import "github.com/hyroute/hyroute/runtime/address"

// Instant is a point in time in milliseconds, on a clock of the body that never goes back.
type Instant uint64

// Config is what a machine starts from.
type Config struct {
	Runtime address.Address // own runtime URL
	Wall    uint64          // ms since 1970
	Seed    uint64          // all randomness comes from it
	Domains []string        // further domains whose node may be used
	Direct  bool            // the body can make peer connections
}

// Engine is the machine: resolver and sessions behind one Step.
type Engine struct{}

// New makes a machine, and the effects of its start.
func New(c Config) (*Engine, []Effect, error) { return nil, nil, nil }

// Step takes events and returns all effects.
func (e *Engine) Step(now Instant, events ...Event) []Effect { return nil }

// Snapshot is the whole state: Restore makes an equal machine of it.
func (e *Engine) Snapshot() []byte { return nil }

// Restore makes a machine of a snapshot.
func Restore(snapshot []byte) (*Engine, error) { return nil, nil }

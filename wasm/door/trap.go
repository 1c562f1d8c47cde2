//go:build trap

package door

import "github.com/hyroute/hyroute/runtime/engine"

// Poison is the address that traps. The build tag "trap" is for tests of the bodies only: a module built with it traps when
// a message to this address is posted, after the machine took the step and before anybody learns of its effects. That is
// the worst moment: the state has moved on, and nobody knows. No other build has the address or the trap.
const Poison = "hyperty://trap.example/poison"

func trap(events []engine.Event) {
	for _, e := range events {
		if m, ok := e.(*engine.MessagePosted); ok && m.To.String() == Poison {
			panic("door: a message to " + Poison)
		}
	}
}

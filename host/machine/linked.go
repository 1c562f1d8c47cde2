package machine

import (
	"errors"

	"github.com/hyroute/hyroute/runtime/engine"
)

// errClosed is what Step and Snapshot give after Close.
var errClosed = errors.New("machine: closed")

// linked is the engine in this program.
type linked struct{ engine *engine.Engine }

// Linked makes a machine of the engine that is linked into this program, and gives the effects of its start.
func Linked(c engine.Config) (Machine, []engine.Effect, error) {
	e, effects, err := engine.New(c)
	if err != nil {
		return nil, nil, err
	}
	return &linked{engine: e}, effects, nil
}

// RestoreLinked makes a machine of the engine that is linked into this program from what Snapshot gave, be it that of a
// linked machine or of a module.
func RestoreLinked(snapshot []byte) (Machine, error) {
	e, err := engine.Restore(snapshot)
	if err != nil {
		return nil, err
	}
	return &linked{engine: e}, nil
}

func (l *linked) Step(now engine.Instant, events ...engine.Event) ([]engine.Effect, error) {
	if l.engine == nil {
		return nil, errClosed
	}
	return l.engine.Step(now, events...), nil
}

func (l *linked) Snapshot() ([]byte, error) {
	if l.engine == nil {
		return nil, errClosed
	}
	return l.engine.Snapshot(), nil
}

func (l *linked) Close() error {
	l.engine = nil
	return nil
}

// Package door is what stands behind the exports of the module: the machine, reached by text and bytes. It holds no
// pointer arithmetic and needs no WebAssembly, so the native program runs the very same code.
package door

import (
	"errors"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
)

// Version is the number that abi_version gives.
const Version = 2

var errShut = errors.New("door: there is no machine yet: open or restore first")

// Door holds one machine. The zero value has none. What its methods return is valid until the next call of one of them. An
// error means that the call changed nothing.
type Door struct {
	machine  *engine.Engine
	decoder  wire.Decoder
	packer   wire.Packer
	unpacker wire.Unpacker
	out      []byte
}

// Open makes the machine from an open line and gives the effects of its start. A machine that was there before is gone.
func (d *Door) Open(line []byte) ([]byte, error) {
	config, err := d.decoder.Open(line)
	if err != nil {
		return nil, err
	}
	machine, effects, err := engine.New(config)
	if err != nil {
		return nil, err
	}
	d.use(machine)
	return d.answer(effects), nil
}

// use puts a machine in the place of the one before. What that one's handles meant is gone with it.
func (d *Door) use(machine *engine.Engine) {
	d.machine = machine
	d.packer.Forget()
	d.unpacker.Forget()
}

// Step reads one frame and steps the machine; it gives the effects.
func (d *Door) Step(frame []byte) ([]byte, error) {
	if d.machine == nil {
		return nil, errShut
	}
	now, events, err := d.decoder.Frame(frame)
	if err != nil {
		return nil, err
	}
	effects := d.machine.Step(now, events...)
	trap(events)
	return d.answer(effects), nil
}

// StepPacked is Step for a packed frame; it gives packed effects.
func (d *Door) StepPacked(frame []byte) ([]byte, error) {
	if d.machine == nil {
		return nil, errShut
	}
	now, events, err := d.unpacker.Frame(frame)
	if err != nil {
		return nil, err
	}
	if d.unpacker.Anew() {
		d.packer.Forget()
	}
	effects := d.machine.Step(now, events...)
	trap(events)
	d.out = d.packer.AppendEffects(d.out[:0], effects)
	return d.out, nil
}

// Snapshot gives the whole state of the machine.
func (d *Door) Snapshot() ([]byte, error) {
	if d.machine == nil {
		return nil, errShut
	}
	return d.machine.Snapshot(), nil
}

// Restore makes the machine from what Snapshot gave. A machine that was there before is gone.
func (d *Door) Restore(snapshot []byte) error {
	machine, err := engine.Restore(snapshot)
	if err != nil {
		return err
	}
	d.use(machine)
	return nil
}

func (d *Door) answer(effects []engine.Effect) []byte {
	d.out = wire.AppendEffects(d.out[:0], effects)
	return d.out
}

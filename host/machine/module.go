package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
)

// Options are how a module runs. The zero value is ready.
type Options struct {
	// CacheDir keeps compiled code for the next process: 20 ms instead of 600 ms at its start. Empty: not kept.
	CacheDir string

	// JournalFrames and JournalBytes are how long the journal grows before a snapshot takes its place. A snapshot costs
	// time now, a journal costs time after a trap. 0: 8192 frames, 1 MiB.
	JournalFrames, JournalBytes int
}

// TrapError says that the module trapped: a bug in the machine. The events of that step are left out, and the machine goes on
// from where it was before them.
type TrapError struct {
	Frame  []byte // the poison frame, as text of wasm/ABI.md: enough to see the trap again with the journal of the same machine
	Reason string // what the module wrote before it went down
	Err    error  // the trap
}

func (e *TrapError) Error() string {
	return fmt.Sprintf("machine: the module trapped and was set up again without these events: %v\n%s%s", e.Err, e.Frame, e.Reason)
}

// Unwrap gives the trap.
func (e *TrapError) Unwrap() error { return e.Err }

// module is hyroute.wasm under wazero. One instance serves one machine.
type module struct {
	ctx     context.Context
	code    *code
	running *instance
	journal journal
	decoder wire.Decoder

	// The packed door. Both tables are begun anew with each journal, so that the journal alone makes them again.
	packer   wire.Packer
	unpacker wire.Unpacker
	anew     bool
	frame    []byte
	dead     error // nothing works any more, and why
}

// Module makes a machine of hyroute.wasm, and gives the effects of its start.
func Module(wasm []byte, c engine.Config, o Options) (Machine, []engine.Effect, error) {
	m, err := load(wasm, o)
	if err != nil {
		return nil, nil, err
	}
	m.journal.begin(true, wire.AppendOpen(nil, c))
	output, err := m.running.call("open", m.running.open, m.journal.base)
	if err != nil {
		m.Close()
		return nil, nil, err
	}
	effects, err := m.decoder.Effects(output)
	if err != nil {
		m.Close()
		return nil, nil, err
	}
	return m, effects, nil
}

// RestoreModule makes a machine of hyroute.wasm from what Snapshot gave, be it that of a module or of a linked machine.
func RestoreModule(wasm, snapshot []byte, o Options) (Machine, error) {
	m, err := load(wasm, o)
	if err != nil {
		return nil, err
	}
	m.journal.begin(false, bytes.Clone(snapshot))
	if _, err := m.running.call("restore", m.running.restore, m.journal.base); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func load(wasm []byte, o Options) (*module, error) {
	ctx := withMemory(context.Background())
	code, err := compile(ctx, wasm, o.CacheDir)
	if err != nil {
		return nil, err
	}
	running, err := start(ctx, code)
	if err != nil {
		return nil, err
	}
	return &module{ctx: ctx, code: code, running: running, journal: newJournal(o.JournalFrames, o.JournalBytes)}, nil
}

func (m *module) Step(now engine.Instant, events ...engine.Event) ([]engine.Effect, error) {
	if m.dead != nil {
		return nil, m.dead
	}
	if m.anew {
		m.unpacker.Forget()
	}
	m.frame = m.packer.AppendFrame(m.frame[:0], m.anew, now, events...)
	output, err := m.running.call("step_packed", m.running.step, m.frame)
	m.anew = err != nil // of what the frame defined, the module knows nothing
	if err != nil {
		return nil, m.failed(err, now, events)
	}
	effects, err := m.unpacker.Effects(output)
	if err != nil {
		return nil, m.die(fmt.Errorf("machine: the module's answer: %w", err))
	}
	m.journal.add(m.frame)
	if m.journal.full() {
		m.shorten()
	}
	return effects, m.dead
}

// failed is the error of a Step whose call failed. After a trap it sets the machine up again.
func (m *module) failed(err error, now engine.Instant, events []engine.Event) error {
	var trap *trapped
	if !errors.As(err, &trap) {
		return err
	}
	if err := m.rebuild(); err != nil {
		return err
	}
	return &TrapError{Frame: wire.AppendFrame(nil, now, events...), Reason: trap.text, Err: trap}
}

func (m *module) Snapshot() ([]byte, error) {
	if m.dead != nil {
		return nil, m.dead
	}
	output, err := m.running.call("snapshot", m.running.snapshot, nil)
	if trap := (*trapped)(nil); errors.As(err, &trap) {
		if err := m.rebuild(); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(output), nil
}

func (m *module) Close() error {
	if m.running != nil {
		m.running.close()
		m.running = nil
	}
	if m.dead == nil {
		m.dead = errClosed
	}
	m.journal = journal{}
	return nil
}

// shorten puts a snapshot in the place of the journal. Where the module can not give one, the journal goes on growing until
// its last limit: the effects of the step that is under way must reach the body all the same.
func (m *module) shorten() {
	snapshot, err := m.Snapshot()
	if err == nil {
		m.journal.begin(false, snapshot)
		m.anew = true
		return
	}
	if m.dead == nil && !m.journal.extend() {
		m.die(fmt.Errorf("machine: the journal is full and there is no snapshot: %w", err))
	}
}

// rebuild puts a new instance in the place of one that trapped, as it was after the last step that went well. The effects
// of the journal have been carried out already, so they are dropped.
func (m *module) rebuild() error {
	m.running.close()
	m.running = nil
	running, err := start(m.ctx, m.code)
	if err != nil {
		return m.die(err)
	}
	m.running = running
	if m.journal.opened {
		_, err = running.call("open", running.open, m.journal.base)
	} else {
		_, err = running.call("restore", running.restore, m.journal.base)
	}
	for frame := range m.journal.frames() {
		if err != nil {
			break
		}
		_, err = running.call("step_packed", running.step, frame)
	}
	if err != nil {
		return m.die(fmt.Errorf("machine: set up again after a trap: %w", err))
	}
	return nil
}

// die ends the machine: Step and Snapshot give err from now on.
func (m *module) die(err error) error {
	m.dead = err
	m.Close()
	return err
}

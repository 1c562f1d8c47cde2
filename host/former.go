package host

import (
	"errors"
	"fmt"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/host/store"
	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
)

// moreIDs is more than the ids that one Step gives. Some may have been given after the numbers of the last one were stored.
const moreIDs = 1 << 20

// former is what a store knows of the former life of a runtime. nil: there was none.
type former struct {
	*saved
	steps []savedStep
	torn  int64
}

// keyFile is the key of a runtime in the folder of its store.
const keyFile = "key.pem"

// openStore opens the store of the options, and takes from it what they leave open: the key, and the domain.
func (o *Options) openStore() (*keeper, *former, error) {
	if o.Store == "" {
		return nil, nil, nil
	}
	s, state, err := store.Open(o.Store, o.SyncStore)
	if err != nil {
		return nil, nil, &Error{Code: NotStored, Err: err}
	}
	f, err := o.readStore(state)
	if err != nil {
		s.Close()
		return nil, nil, &Error{Code: NotStored, Err: fmt.Errorf("%s: %w", o.Store, err)}
	}
	return &keeper{store: s, limit: leastJournal}, f, nil
}

func (o *Options) readStore(state store.State) (*former, error) {
	if o.Key == nil {
		var err error
		if o.Key, err = identity.LoadOrNew(o.Store + "/" + keyFile); err != nil {
			return nil, err
		}
	}
	if state.Base == nil {
		return nil, nil
	}
	f := &former{torn: state.Torn}
	var err error
	if f.saved, err = readSaved(state.Base); err != nil {
		return nil, err
	}
	for _, b := range state.Records {
		s, err := readStep(b)
		if err != nil {
			return nil, err
		}
		f.steps = append(f.steps, s)
		f.numbers = s.numbers
	}
	if f.runtime.ID() != o.Key.ID() {
		return nil, fmt.Errorf("it belongs to the runtime %s, which has another key", f.runtime)
	}
	if o.Domain == "" {
		o.Domain = f.runtime.Domain()
	}
	return f, nil
}

// restore makes the machine and the outbox as the former life left them. What the machine asks for along the way was carried out by
// that life, but for the last Step: of that nobody knows.
func (l *loop) restore(f *former) (err error) {
	if l.machine, err = l.runtime.options.restored(f.machine); err != nil {
		return fmt.Errorf("host: the stored state: %w", err)
	}
	for _, p := range f.posted {
		l.outbox.remember(p)
	}
	var d wire.Decoder
	l.runtime.restored = restoredOf(l.outbox.unsettled())
	for i, step := range f.steps {
		now, events, err := step.events(&d)
		if err == nil {
			err = l.relearn(&step, events)
		}
		if err != nil {
			return err
		}
		last := i == len(f.steps)-1
		if last { // what becomes of messages in it may have been told to nobody
			l.runtime.restored = restoredOf(l.outbox.unsettled())
		}
		effects, err := l.machine.Step(now, events...)
		if err != nil {
			return fmt.Errorf("host: a stored step: %w", err)
		}
		for _, e := range effects {
			l.relive(e, last)
		}
	}
	l.outbox.last = f.numbers.msg
	l.runtime.lastID.Store(f.numbers.id + moreIDs)
	if f.torn > 0 {
		l.problem(fmt.Sprintf("the store %s ended in a step that was not written to its end: %d bytes were cut off", l.runtime.options.Store, f.torn))
	}
	return nil
}

// relearn takes the messages of a stored Step.
func (l *loop) relearn(s *savedStep, events []engine.Event) error {
	contents := s.contents
	for _, e := range events {
		switch e := e.(type) {
		case *engine.MessagePosted:
			if len(contents) == 0 {
				return errors.New("host: a stored step: the content of a message is missing")
			}
			p := &posted{event: *e, content: contents[0]}
			contents = contents[1:]
			p.request = requestOf(p.content)
			l.outbox.remember(p)
		case *engine.AnswerReceived:
			if p := l.outbox.posted.get(e.Msg); p != nil && !p.settled {
				l.outbox.done(p)
			}
		}
	}
	return nil
}

// relive does what an effect of the former life did to the outbox.
func (l *loop) relive(effect engine.Effect, last bool) {
	switch e := effect.(type) {
	case *engine.Settle:
		l.outbox.settle(e)
	case *engine.GiveUpAnswer:
		l.outbox.giveUp(e.Msg)
	case *engine.Release:
		l.outbox.release(e.Msg)
	case *engine.Transmit:
		for _, part := range e.Parts {
			l.outbox.leaves(part.Msg, Relay)
		}
	case *engine.Forward:
		envelope, ok := l.outbox.plain(e.Msg, l.runtime.newID)
		if p := l.outbox.posted.get(e.Msg); ok && last && p != nil {
			p.fault = &Error{Code: Closed, To: envelope.To, Maybe: true, Err: errors.New("the process ended while it was being sent as JSON")}
		}
	case *engine.SessionReset, *engine.Gap:
		if last { // it may have been told to nobody
			l.record(e)
		}
	}
}

// restored makes the machine from a snapshot.
func (o *Options) restored(snapshot []byte) (machine.Machine, error) {
	if o.Module != nil {
		return machine.RestoreModule(o.Module, snapshot, machine.Options{CacheDir: o.ModuleCache})
	}
	return machine.RestoreLinked(snapshot)
}

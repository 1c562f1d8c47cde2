package world

import (
	"maps"
	"slices"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/scenarios/history"
)

// How a body that dies has stored its state: the Mode of a Crash.
const (
	byCommit  = iota // each step's events, before its effects leave
	byLastAct        // as the last thing it did
	byOldSave        // its last snapshot, and nothing since: what session.md calls a stale save
	byTwin           // it lives on, and a second one begins from its state: a tab that was duplicated
)

// stored is what a body finds when it comes back.
type stored struct {
	snapshot []byte
	journal  []step
	memory   *memory // of an old save: what the body knew then
	notDone  int     // so many effects of the last step were not carried out
}

// memory is what a body knows beside its machine.
type memory struct {
	posts   map[uint64]*post
	order   []uint64
	numbers numbers
}

func (b *body) remember() *memory {
	m := &memory{posts: maps.Clone(b.posts), order: slices.Clone(b.order), numbers: b.numbers}
	for n, p := range m.posts {
		q := *p
		m.posts[n] = &q
	}
	return m
}

// oldSaveEvery is how many steps are between two old saves.
const oldSaveEvery = 64

// keepOld stores a state for a crash that comes back with an old one. It is not the state that traps go back to: what happens must not depend
// on whether machines are replaced.
func (b *body) keepOld() {
	b.steps = 0
	if !b.w.oldSaves || !b.alive {
		return
	}
	snapshot, err := b.machine.Snapshot()
	if err != nil {
		b.w.fail("snapshot", "%s: %v", b.name, err)
		return
	}
	b.old = stored{snapshot: snapshot, memory: b.remember()}
}

// doomed is a body that dies in its next step, after so many effects.
type doomed struct {
	after   int
	action  Action
	notDone int
}

func doCrash(w *World, a Action) {
	b := w.bodies[a.Who]
	switch {
	case !b.alive || b.closing || b.frozen > 0:
	case w.kit.Restore == nil:
		doKill(w, Action{Who: a.Who, For: a.For, Mode: a.Count})
	case a.Mode == byTwin:
		b.double(a)
	case a.Mode == byCommit && a.Size > 0:
		b.doom = &doomed{after: a.Size, action: a}
		life := b.life
		w.after(1000, func() {
			if b.life == life && b.doom != nil {
				b.crash(a)
			}
		})
	default:
		b.crash(a)
	}
}

// crash ends a body, and has it come back with what it has stored.
func (b *body) crash(a Action) {
	s := stored{snapshot: b.saved, journal: b.journal}
	if b.doom != nil {
		s.notDone, b.doom = b.doom.notDone, nil
	}
	switch a.Mode {
	case byLastAct:
		snapshot, err := b.machine.Snapshot()
		if err != nil {
			b.w.fail("snapshot", "%s: %v", b.name, err)
			return
		}
		s = stored{snapshot: snapshot}
	case byOldSave:
		s = b.old
		b.w.rewound = true
	}
	for _, id := range slices.Sorted(maps.Keys(b.inHand)) {
		b.w.log(history.Record{End: b.url.String(), Kind: history.Dropped, Message: b.inHand[id]})
	}
	b.neverTold()
	b.perish(a.Count == 1)
	b.w.during(a, func() {
		if !b.alive {
			b.comeBack(s, a.Every)
		}
	})
}

// double begins a second life from the body's state. The elder one lives on for a while; its node lets go of it when the younger comes.
func (b *body) double(a Action) {
	snapshot, err := b.machine.Snapshot()
	if err != nil {
		b.w.fail("snapshot", "%s: %v", b.name, err)
		return
	}
	b.w.rewound = true
	younger := newBody(b.w, b.index)
	younger.life, younger.started, younger.clock = b.life+1, b.started, b.clock
	younger.offline, younger.rate = b.offline, b.rate
	younger.endpoints = nil
	for _, e := range b.endpoints {
		copied := *e
		younger.endpoints = append(younger.endpoints, &copied)
	}
	memory := b.remember()
	for _, p := range b.told {
		delete(memory.posts, p.event.Msg)
		memory.order = slices.DeleteFunc(memory.order, func(m uint64) bool { return m == p.event.Msg })
	}
	b.w.bodies[b.index] = younger
	younger.comeBack(stored{snapshot: snapshot, memory: memory}, a.Every)
	b.w.during(a, func() {
		if b.alive {
			b.perish(false)
		}
	})
}

// neverTold forgets posts that the machine did not hear of: whoever posted them died with them.
func (b *body) neverTold() {
	for _, p := range b.told {
		b.w.log(history.Record{End: b.url.String(), Kind: history.Settled, Message: p.id.String(), Outcome: history.OutcomeRejected, Reason: "closed"})
		delete(b.posts, p.event.Msg)
		b.order = slices.DeleteFunc(b.order, func(m uint64) bool { return m == p.event.Msg })
	}
}

// comeBack is a new life from what was stored (wasm/ABI.md, "A new life"). late is how much the clock is behind.
func (b *body) comeBack(s stored, late uint64) {
	m, err := b.w.kit.Restore(s.snapshot)
	if err != nil {
		b.w.fail("restore-is-equal", "%s: a snapshot of %d bytes can not be restored: %v", b.name, len(s.snapshot), err)
		return
	}
	if s.memory != nil {
		b.posts, b.order, b.numbers = s.memory.posts, s.memory.order, s.memory.numbers
	}
	b.alive, b.closing, b.stalled, b.scheduled, b.forced = true, false, false, false, false
	b.forgetVolatile()
	for i, x := range s.journal {
		effects, err := m.Step(x.now, x.events...)
		if err != nil {
			b.w.fail("restore-is-equal", "%s: the journal fails: %v", b.name, err)
			return
		}
		b.catchUp(effects)
		if i == len(s.journal)-1 {
			b.tellNotices(effects[len(effects)-s.notDone:])
		}
	}
	b.machine = m
	b.save()
	b.keepOld()
	b.tell(&engine.Restored{
		Wall:    wallAtStart + b.w.now - late,
		Seed:    newChance(b.w.plan.Seed, b.name+" restored").next() + uint64(b.life),
		Domains: b.w.plan.Bodies[b.index].Domains, Direct: b.w.plan.Bodies[b.index].Direct,
	})
	for _, e := range b.endpoints {
		e.told = false
		if e.present {
			b.register(e)
		}
	}
}

// tellNotices tells what nobody else will say.
func (b *body) tellNotices(effects []engine.Effect) {
	for _, e := range effects {
		switch e.(type) {
		case *engine.SessionReset, *engine.Gap:
			b.do(e)
		}
	}
}

// catchUp does of the effects of a stored step what the former life did not get to and does not need it: all others named what died with it.
func (b *body) catchUp(effects []engine.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case *engine.Settle:
			if p := b.posts[e.Msg]; p != nil && !p.settled {
				b.settle(e)
			}
		case *engine.Release:
			if p := b.posts[e.Msg]; p != nil && !p.released {
				b.release(e)
			}
		case *engine.GiveUpAnswer:
			if p := b.posts[e.Msg]; p != nil && !p.gaveUp {
				b.giveUp(e)
			}
		}
	}
}

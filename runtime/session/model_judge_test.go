package session

import (
	"maps"
	"slices"

	"github.com/hyroute/hyroute/scenarios/history"
)

// modelApp is what the application of one side has seen. It goes back together with a save.
type modelApp struct {
	log  []modelSeen
	stat map[string]modelStatus
}

// modelSeen is one thing that an application saw.
type modelSeen struct {
	kind byte // a: it posted message, d: was told that it was delivered, m: was handed it; r: my stream, g: the peer's stream started over
	name string
	lane string
	open bool // m: neither taken nor refused yet
}

type modelStatus uint8

const (
	modelPending modelStatus = iota
	modelDone
	modelSure  // certainly not delivered
	modelMaybe // rejected, and may have been delivered
)

func (a *modelApp) clone() *modelApp {
	return &modelApp{slices.Clone(a.log), maps.Clone(a.stat)}
}

// accepted are the messages posted in a lane, in order.
func (a *modelApp) accepted(lane string) []string {
	var names []string
	for _, s := range a.log {
		if s.kind == 'a' && s.lane == lane {
			names = append(names, s.name)
		}
	}
	return names
}

// see notes what an application saw, and judges it.
func (w *lives) see(e *modelEnd, r history.Record) {
	if w.twin != nil && e == w.twin {
		w.ever[r.Message] = w.ever[r.Message] || r.Kind == history.Delivered || r.Kind == history.Refused
		if r.Kind == history.Reset && w.shared == nil {
			w.shared = map[string]bool{}
			for name := range w.saves[0].app.stat {
				w.shared[name] = true
			}
		}
		return
	}
	i := e.side
	app := w.apps[i]
	switch r.Kind {
	case history.Posted:
		w.laneOf[r.Message] = r.Lane
		app.log = append(app.log, modelSeen{kind: 'a', name: r.Message, lane: r.Lane})
		app.stat[r.Message] = modelPending
	case history.Settled:
		switch {
		case r.Outcome == history.OutcomeDelivered:
			if !w.ever[r.Message] && !w.stale[i] {
				w.fail("true-done: message %s of side %d was told to be delivered, it never was", r.Message, i)
			}
			app.stat[r.Message] = modelDone
			app.log = append(app.log, modelSeen{kind: 'd', name: r.Message, lane: w.laneOf[r.Message]})
		case r.Maybe:
			app.stat[r.Message], w.tomb[r.Message] = modelMaybe, true
		default:
			app.stat[r.Message], w.tomb[r.Message] = modelSure, true
		}
	case history.Reset:
		lane := e.table.sessions.Get(r.Session).key.Lane
		app.log = append(app.log, modelSeen{kind: 'r', lane: lane})
		w.checkPaid(i, lane)
		w.checkNeeded(i, "session-reset")
	case history.Gap:
		app.log = append(app.log, modelSeen{kind: 'g', lane: e.table.sessions.Get(r.Session).key.Lane})
		w.checkNeeded(i, "gap")
	case history.Delivered, history.Refused:
		w.checkIn(i, r)
	}
}

// checkNeeded is no-needless of session.md 3.6.
func (w *lives) checkNeeded(i int, what string) {
	if !w.unsafe {
		w.fail("no-needless: side %d was told of a %s although all restores were from true saves", i, what)
	}
}

// checkPaid is paid of session.md 3.6.
func (w *lives) checkPaid(i int, lane string) {
	resets, slow := 0, 0
	for _, s := range w.apps[i].log {
		if s.kind == 'r' && s.lane == lane {
			resets++
		}
	}
	for _, s := range w.slowOf {
		if s {
			slow++
		}
	}
	if w.twin == nil && !w.bounds.twin && resets > w.crashes+slow {
		w.fail("paid: side %d reset %d times after %d crashes", i, resets, w.crashes)
	}
}

// checkIn judges a message that is handed over: once, order, no-fork, told-receiver, told-sender and sure of session.md 3.6. An elder twin
// that is not put out by the node, and takes the name back, sends what both have waiting: the younger can not know.
func (w *lives) checkIn(i int, r history.Record) {
	here, there := w.apps[i], w.apps[1-i]
	name, lane := r.Message, w.laneOf[r.Message]
	w.ever[name] = true
	accepted := there.accepted(lane)
	place := map[string]int{}
	for n, m := range accepted {
		place[m] = n
	}
	gap, last := -1, map[string]int{}
	for n := range here.log {
		s := &here.log[n]
		if s.lane != lane {
			continue
		}
		if s.kind == 'g' {
			gap = n
		}
		if s.kind != 'm' {
			continue
		}
		if s.name != name {
			if !s.open {
				last[s.name] = n
			}
			continue
		}
		if !s.open && !w.shared[name] {
			w.fail("once: message %s a second time to the application of side %d", name, i)
		}
		s.open = false // it had it in hand when its former life ended, and has it again
		return
	}
	here.log = append(here.log, modelSeen{kind: 'm', name: name, lane: lane})
	mine, known := place[name]
	if !known {
		return // its sender does not remember it
	}
	excused := w.stale[1-i]
	if there.stat[name] == modelSure && !excused && !w.lost[i] && !w.stale[i] {
		w.fail("sure: message %s was reported as certainly not delivered", name)
	}
	for other, n := range last {
		p, in := place[other]
		if in && p > mine && !w.shared[other] {
			w.fail("order: message %s after %s", name, other)
		}
		if !in && n > gap {
			w.fail("no-fork: message %s of a forgotten time line, and then %s without a gap", other, name)
		}
	}
	before := -1
	for p, missing := range accepted[:mine] {
		if n, in := last[missing]; in {
			before = max(before, n)
			continue
		}
		stat := there.stat[missing]
		if stat == modelSure || stat == modelMaybe || excused && w.tomb[missing] || w.openAt(here, missing) {
			continue
		}
		if stat == modelPending && !excused {
			w.fail("order: message %s before %s, which is pending (%d and %d)", name, missing, mine, p)
		}
		if gap <= before {
			w.fail("told-receiver: message %s missing before %s, and no gap", missing, name)
		}
		if stat == modelDone && !excused && !w.toldSender(there, missing, lane) {
			w.fail("told-sender: message %s was lost by side %d after its delivery, and its sender was not told", missing, i)
		}
	}
}

// openAt says whether a message is in the hand of the application.
func (w *lives) openAt(app *modelApp, name string) bool {
	return slices.ContainsFunc(app.log, func(s modelSeen) bool { return s.kind == 'm' && s.name == name && s.open })
}

// toldSender says whether a session-reset was told after the message was settled.
func (w *lives) toldSender(app *modelApp, name, lane string) bool {
	settled := false
	for _, s := range app.log {
		if s.kind == 'd' && s.name == name {
			settled = true
		}
		if s.kind == 'r' && s.lane == lane && settled {
			return true
		}
	}
	return false
}

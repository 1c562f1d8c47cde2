package world

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/scenarios/history"
)

// Kit says what machines a world is played with.
type Kit struct {
	New     func(name string, c engine.Config) (machine.Machine, []engine.Effect, error)
	Restore func(snapshot []byte) (machine.Machine, error) // nil: Trap does nothing
	Every   int                                            // 0, or: each machine is restored after so many steps of the world
}

// Linked is the engine linked into this program.
func Linked() Kit {
	return Kit{
		New:     func(_ string, c engine.Config) (machine.Machine, []engine.Effect, error) { return machine.Linked(c) },
		Restore: machine.RestoreLinked,
	}
}

// Result is how a plan went.
type Result struct {
	Failure *Failure // nil: all promises were kept
	Hash    uint64   // over all steps of all machines
	Steps   int
	Summary history.Summary
	Records []history.Record
}

// After the last fault, in ms: how long the machines have to find together again (the longest hold-down and back-off), how
// long a message then has, and how long until nothing may be left at all (a session that owes nothing is forgotten).
const (
	calmTime  = 100_000
	probeTime = 40_000
	restTime  = 26 * 3600_000
)

// Run plays a plan. trace, if it is not nil, gets each step as text.
func Run(p *Plan, kit Kit, trace func(step []byte)) Result {
	w := newWorld(p, kit)
	w.trace = trace
	w.run()
	return w.result()
}

// runChosen plays a plan with choices, and is soon done with its end.
func runChosen(p *Plan, kit Kit, c *chooser) *Failure {
	w := newWorld(p, kit)
	w.chooser, w.rest = c, 5*60_000
	w.run()
	return w.failure
}

func (w *World) run() {
	defer w.panicked()
	for i, b := range w.bodies {
		w.at(w.now+uint64(i*37), b.start)
	}
	for _, a := range w.plan.Actions {
		w.at(w.now+a.At, func() { handlers[a.Do](w, a) })
	}
	w.play(w.now + w.plan.Until)
	w.calm = true
	w.play(w.now + calmTime)
	w.probe()
	w.play(w.now + w.rest)
	for _, b := range w.bodies {
		b.tell(&engine.TimePassed{}) // what is forgotten along with other work has its chance
	}
	w.play(w.now + 1000)
	w.checkEnd()
	w.closeAll()
}

// panicked makes a panic, of a machine or of the world itself, a promise that this plan breaks, so that it is shrunk and kept like others.
func (w *World) panicked() {
	cause := recover()
	if cause == nil {
		return
	}
	var where strings.Builder
	var callers [12]uintptr
	for frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])]); ; {
		f, more := frames.Next()
		fmt.Fprintf(&where, "\n%s:%d", f.Function, f.Line)
		if !more {
			break
		}
	}
	w.failure = &Failure{"no-panic", w.now, fmt.Sprint(cause) + where.String()}
}

func (w *World) result() Result {
	r := Result{Failure: w.failure, Hash: w.hash.Sum64(), Steps: w.steps, Records: w.records}
	if w.failure == nil {
		r.Summary = w.verdict().Summary
	}
	return r
}

// probe posts a message from each body to each other one: in a calm world it must arrive. The first one may be what tells
// its sender that the other side has lost its memory; the second may not. Of two twins the one that came to the node last lives.
func (w *World) probe() {
	for round := range 2 {
		var all []*post
		for _, b := range w.bodies {
			for _, to := range w.bodies {
				from, target := b.listening(), to.listening()
				if b == to || b.putOut || to.putOut || from == nil || target == nil || !b.alive || w.failure != nil || w.orphaned(from) || w.orphaned(target) {
					continue
				}
				b.post(from.address, target.address, 40, Action{})
				all = append(all, b.posts[b.numbers.msg])
			}
		}
		w.play(w.now + probeTime)
		for _, p := range all {
			if p.outcome != history.OutcomeDelivered && !(round == 0 && p.reason == "session-reset") {
				w.fail("calm-delivers", "all faults are over since %d s, and a message from %s to %s ends as %q (%s)", calmTime/1000, p.event.From, p.event.To, p.outcome, p.reason)
			}
		}
	}
}

// orphaned says whether the Domain Registry still has an entry that a former life of some body made for this address
// elsewhere: until it expires nobody else can have it.
func (w *World) orphaned(e *endpoint) bool {
	entry := w.node(e.address.Domain()).entries[e.address.String()]
	if entry == nil {
		return false
	}
	owner := w.body(entry.runtime)
	return owner != nil && owner.life != entry.life && !owner.has(e)
}

func (b *body) has(e *endpoint) bool {
	for _, x := range b.endpoints {
		if x == e {
			return true
		}
	}
	return false
}

func (b *body) listening() *endpoint {
	for _, e := range b.endpoints {
		if e.present {
			return e
		}
	}
	return nil
}

func (w *World) closeAll() {
	for _, b := range w.bodies {
		if b.alive && w.failure == nil {
			b.closing = true
			b.tell(&engine.Closing{})
		}
	}
	w.play(w.now + 1000)
}

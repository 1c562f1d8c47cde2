package world

import (
	"slices"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/session"
	"github.com/hyroute/hyroute/scenarios/history"
)

// What the contract bounds (session.md 4.6, docs/protocol.md 5, DESIGN.md 6).
const (
	defaultDeadline = 30_000
	maxFrame        = 60 << 10
	maxChunk        = 16_000 // of a message that is cut
	maxWhole        = 60_000 // of one that is not
	maxWindow       = 1 << 20
	maxMessage      = 16<<20 + session.Preface
	maxStubs        = 16 + 2*64
	maxAtRest       = 16 << 10 // of the state of a machine at rest that knows a handful of others
	maxStepsNow     = 20_000
	lateSettle      = 50 // ms: two timers that fall together may be served in two steps
)

// reasons are all that a message may be rejected for (wasm/ABI.md).
var reasons = []string{
	"unknown-sender", "no-listener", "not-found", "not-bound", "refused", "no-message-node", "no-such-runtime", "no-answer", "expired",
	"too-many", "too-big", "closed", "session-reset", "superseded", "unsupported-address", "unsupported-payload",
}

func deadlineOf(p *post) uint64 {
	if p.event.Deadline > 0 {
		return p.event.Deadline
	}
	return defaultDeadline
}

// checkStep holds the machine to the promises of DESIGN.md part 3 that can be seen after each step.
func (b *body) checkStep(now engine.Instant, events []engine.Event) {
	w := b.w
	if b.wake > 0 && b.wake < now {
		w.fail("wake-ahead", "%s: after the step at %d it still wants to be woken at %d", b.name, now, b.wake)
	}
	if b.stepsNow++; b.lastNow != now {
		b.stepsNow, b.lastNow = 0, now
	}
	if b.stepsNow > maxStepsNow && !b.stalled {
		w.fail("no-livelock", "%s: %d steps at %d, and it is not done", b.name, b.stepsNow, now)
	}
	if len(b.order) < 48 || w.steps%32 == 0 {
		b.checkWaits(now)
	}
	for _, e := range events {
		switch e := e.(type) {
		case *engine.ExplanationAsked:
			if b.asked[e.Job] {
				w.fail("explained-at-once", "%s: job %d asked for an explanation and got none", b.name, e.Job)
			}
		case *engine.StubChanged:
			if e.Reason == "superseded" {
				b.checkPutOut(e.Stub)
			}
		case *engine.Closing:
			for _, msg := range b.order {
				if !b.posts[msg].settled {
					w.fail("closing-settles-all", "%s: message %d is not settled by closing", b.name, msg)
				}
			}
		}
	}
	largest := 0
	for _, a := range w.plan.Actions {
		largest = max(largest, a.Size)
	}
	if limit := max(1, len(b.held)) * (maxWindow + 2*largest + 2*maxWhole); b.heldBytes > limit {
		w.fail("bounded", "%s: the body holds %d bytes of %d sessions", b.name, b.heldBytes, len(b.held))
	}
	if len(b.stubs) > maxStubs {
		w.fail("bounded", "%s: %d stubs", b.name, len(b.stubs))
	}
}

// checkPutOut asks, when a twin took the place of the body at the node of its own domain, whether anything waits to go out all the same.
func (b *body) checkPutOut(stub uint64) {
	domain := b.url.Domain()
	if s := b.stubs[stub]; s == nil || s.domain != domain {
		return
	}
	for _, msg := range b.order {
		p := b.posts[msg]
		to := p.event.To.Entity()
		here := slices.ContainsFunc(b.endpoints, func(e *endpoint) bool { return e.address.Entity() == to })
		if !p.settled && p.due != 0 && !here && to.Domain() == domain && p.event.To.Class() != address.Publish {
			b.w.fail("put-out-settles", "%s: a twin took its place, and message %d to %s still waits", b.name, msg, p.event.To)
			return
		}
	}
}

// checkWaits asks whether everything that waits has a deadline, and whether the timer covers it.
func (b *body) checkWaits(now engine.Instant) {
	for _, msg := range b.order {
		p := b.posts[msg]
		if p.due == 0 || p.settled {
			continue
		}
		if now > p.due+lateSettle {
			b.w.fail("settled-in-time", "%s: message %d was to be settled by %d, it is %d now", b.name, msg, p.due, now)
			return
		}
		if b.wake == 0 || b.wake > p.due+lateSettle {
			b.w.fail("wake-covers-waits", "%s: message %d must settle by %d, and the timer is set to %d (0: never)", b.name, msg, p.due, b.wake)
			return
		}
	}
}

// checkEnd asks, with all faults over and all timers run out, whether anything is left undecided.
func (w *World) checkEnd() {
	for _, b := range w.bodies {
		if w.failure != nil || !b.alive {
			return
		}
		for _, msg := range b.order {
			p := b.posts[msg]
			switch {
			case !p.settled:
				w.fail("nothing-undecided", "%s: message %d is not settled", b.name, msg)
			case !p.released:
				w.fail("nothing-leaks", "%s: message %d is settled and never released", b.name, msg)
			case !p.answered:
				w.fail("nothing-undecided", "%s: the answer to message %d is still waited for", b.name, msg)
			}
		}
		if b.heldBytes > 0 {
			w.fail("nothing-leaks", "%s: %d bytes of %d sessions are still held", b.name, b.heldBytes, len(b.held))
		}
		if len(b.plains) > 0 {
			w.fail("nothing-undecided", "%s: %d JSON messages were neither delivered nor discarded", b.name, len(b.plains))
		}
		if len(b.asked) > 0 {
			w.fail("nothing-undecided", "%s: %d explanations were asked for and not given", b.name, len(b.asked))
		}
		if s, err := b.machine.Snapshot(); err != nil || len(s) > maxAtRest {
			w.fail("nothing-leaks", "%s: a machine at rest has a state of %d bytes (%v)", b.name, len(s), err)
		}
	}
	if w.failure == nil {
		v := w.verdict()
		if err := v.Err(); err != nil {
			w.failure = &Failure{Rule: "history " + string(v.Violations[0].Rule), At: w.records[v.Violations[0].Record].At, Text: err.Error()}
		}
	}
}

// verdict judges the history. A body that came back with an old save forgot what its application saw since: then only what was handed over
// is judged, not whether it should have been. The session's own tests compare what each application remembers.
func (w *World) verdict() history.Verdict {
	v := history.Check(w.records, w.judged())
	if w.rewound {
		v.Violations = slices.DeleteFunc(v.Violations, func(f history.Violation) bool {
			return f.Rule != history.Altered && f.Rule != history.Invented && f.Rule != history.Malformed
		})
	}
	return v
}

// judged is what may be asked of the history of this plan. A machine that refuses a message by itself, because nobody listens
// any more, tells only the sender.
func (w *World) judged() history.Options {
	o := history.Options{OneClock: true, Refusals: true}
	for _, a := range w.plan.Actions {
		if a.Do == Move || a.Do == Unregister {
			o.Refusals = false
		}
	}
	return o
}

package world

import (
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
	"github.com/hyroute/hyroute/scenarios/history"
)

// World is a plan being played.
type World struct {
	plan     *Plan
	kit      Kit
	now      uint64 // ms
	planned  schedule
	bodies   []*body
	nodes    []*node
	pairs    map[pairKey]*pair
	records  []history.Record
	failure  *Failure
	hash     hash.Hash64
	line     []byte
	trace    func(line []byte) // nil: nobody listens
	steps    int
	calm     bool     // the faults are over
	oldSaves bool     // the plan has bodies that come back with an old save
	rewound  bool     // one did: who compares what the ends saw would have to know what each of them forgot
	rest     uint64   // how long the end takes, ms
	chooser  *chooser // nil: nothing is explored
}

// Failure is a broken promise.
type Failure struct {
	Rule string // the promise
	At   uint64 // ms of the world
	Text string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("world: %s, at %d ms: %s", f.Rule, f.At, f.Text)
}

// fail notes the first broken promise; the world then stops.
func (w *World) fail(rule, format string, args ...any) {
	if w.failure == nil {
		w.failure = &Failure{rule, w.now, fmt.Sprintf(format, args...)}
	}
}

func (w *World) at(at uint64, do func()) { w.planned.add(max(at, w.now), do) }

func (w *World) after(ms uint64, do func()) { w.planned.add(w.now+ms, do) }

// play runs what is planned up to a time.
func (w *World) play(until uint64) {
	for w.failure == nil && w.planned.due(until) {
		e := w.planned.next()
		w.now = e.at
		e.do()
	}
	w.now = max(w.now, until)
}

// newWorld builds all that is there before the first action.
func newWorld(p *Plan, kit Kit) *World {
	w := &World{plan: p, kit: kit, now: 1000, rest: restTime, pairs: map[pairKey]*pair{}, hash: fnv.New64a()}
	for _, a := range p.Actions {
		w.oldSaves = w.oldSaves || a.Do == Crash && a.Mode == byOldSave
	}
	for i, d := range p.domains() {
		w.nodes = append(w.nodes, newNode(w, i, d))
	}
	for i := range p.Bodies {
		w.bodies = append(w.bodies, newBody(w, i))
	}
	return w
}

func (w *World) node(domain string) *node {
	for _, n := range w.nodes {
		if n.domain == domain {
			return n
		}
	}
	return nil
}

func (w *World) body(url address.Address) *body {
	for _, b := range w.bodies {
		if b.url == url {
			return b
		}
	}
	return nil
}

func (w *World) log(r history.Record) {
	r.At = w.now
	w.records = append(w.records, r)
}

// note puts a Step into the trace: the same steps give the same hash.
func (w *World) note(b *body, now engine.Instant, events []engine.Event, effects []engine.Effect) {
	w.line = append(w.line[:0], b.name...)
	w.line = append(w.line, ' ')
	w.line = wire.AppendFrame(w.line, now, events...)
	w.line = append(w.line, "----\n"...)
	w.line = wire.AppendEffects(w.line, effects)
	_, _ = w.hash.Write(w.line)
	if w.trace != nil {
		w.trace(w.line)
	}
}

package world

import "sync"

// A small world is explored by its choices: each frame on the relay may pass, be lost, be late or come twice; each frame on a
// data channel may pass, or find that the path now stands still or is broken; each answer of a node may be lost; after each step
// a body may die with its memory. The first choice is always that nothing happens. All worlds with at most so many other
// choices are played, one after the other.

// Choices of an exploration.
const (
	choiceRelay   = "relay"
	choiceChannel = "channel"
	choiceAnswer  = "answer"
	choiceStep    = "step"
)

// Bounds bound an exploration.
type Bounds struct {
	Faults  int // other choices than nothing, deaths left out
	Crashes int // deaths
}

// chooser makes the choices of one run: those that were decided, else that nothing happens. It notes what could be chosen.
type chooser struct {
	decided map[int]int
	points  []point
}

type point struct {
	kind    string
	options int
}

func (c *chooser) choose(kind string, options int) int {
	c.points = append(c.points, point{kind, options})
	return c.decided[len(c.points)-1]
}

// choose asks what happens. Without an exploration, nothing does.
func (w *World) choose(kind string, options int) int {
	if w.chooser == nil || w.calm {
		return 0
	}
	return w.chooser.choose(kind, options)
}

// Exploration is what Explore found.
type Exploration struct {
	Runs    int
	Failure *Failure    // the first one found, or nil
	Decided map[int]int // by which choices
}

// Explore plays all worlds of a plan within the bounds, some at once.
func Explore(p *Plan, kit Kit, bounds Bounds, workers int) Exploration {
	e := &explorer{plan: p, kit: kit, bounds: bounds}
	first := e.run(nil)
	work := make(chan map[int]int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for decided := range work {
				e.below(decided)
			}
		})
	}
	for _, next := range e.children(nil, first) {
		work <- next
	}
	close(work)
	group.Wait()
	return e.found
}

type explorer struct {
	plan   *Plan
	kit    Kit
	bounds Bounds
	mu     sync.Mutex
	found  Exploration
}

// run plays one world, and gives the points at which another choice could have been made.
func (e *explorer) run(decided map[int]int) []point {
	c := &chooser{decided: decided}
	f := runChosen(e.plan, e.kit, c)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found.Runs++
	if f != nil && e.found.Failure == nil {
		e.found.Failure, e.found.Decided = f, decided
	}
	return c.points
}

// below plays a world and all that differ from it in later choices.
func (e *explorer) below(decided map[int]int) {
	points := e.run(decided)
	for _, next := range e.children(decided, points) {
		e.below(next)
	}
}

// children are the worlds with one more choice, later than all that were decided.
func (e *explorer) children(decided map[int]int, points []point) []map[int]int {
	e.mu.Lock()
	failed := e.found.Failure != nil
	e.mu.Unlock()
	if failed {
		return nil
	}
	last, faults, crashes := -1, 0, 0
	for i := range decided {
		last = max(last, i)
		if points[i].kind == choiceStep {
			crashes++
		} else {
			faults++
		}
	}
	var all []map[int]int
	for i := last + 1; i < len(points); i++ {
		if points[i].kind == choiceStep && crashes >= e.bounds.Crashes || points[i].kind != choiceStep && faults >= e.bounds.Faults {
			continue
		}
		for option := 1; option < points[i].options; option++ {
			next := map[int]int{i: option}
			for k, v := range decided {
				next[k] = v
			}
			all = append(all, next)
		}
	}
	return all
}

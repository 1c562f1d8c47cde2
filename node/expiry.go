package node

import (
	"container/heap"
	"sync"
	"time"

	"github.com/hyroute/hyroute/node/engine"
	"github.com/hyroute/hyroute/runtime/address"
)

// expiry looks at each entry when its time has come. One timer runs for the earliest.
type expiry struct {
	node *Node

	mu      sync.Mutex
	ended   bool
	queue   deadlines
	watched map[address.Address]*deadline // all that is in the queue
	timer   func() bool
	at      time.Time // of the timer; zero: it does not run
}

// due is when an entry must be looked at: when it ends, or later when it is removed.
func (n *Node) due(e *engine.Entry) time.Time {
	if e.Live {
		return e.Ends()
	}
	return e.Ends().Add(n.config.Limits.KeepEntry)
}

// watch has an entry looked at by then. Later is not taken up: looking early does no harm, and a refresh costs nothing.
func (x *expiry) watch(url address.Address, by time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return
	}
	d := x.watched[url]
	switch {
	case d == nil:
		d = &deadline{at: by, url: url}
		x.watched[url] = d
		heap.Push(&x.queue, d)
	case by.Before(d.at):
		d.at = by
		heap.Fix(&x.queue, d.index)
	}
	x.schedule()
}

// forget has an entry looked at no more.
func (x *expiry) forget(url address.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d := x.watched[url]; d != nil {
		delete(x.watched, url)
		heap.Remove(&x.queue, d.index)
	}
}

// schedule makes the timer run for the earliest deadline. mu is held.
func (x *expiry) schedule() {
	if len(x.queue) == 0 || x.ended || !x.at.IsZero() && !x.queue[0].at.Before(x.at) {
		return
	}
	if x.timer != nil {
		x.timer()
	}
	x.at = x.queue[0].at
	x.timer = x.node.after(x.at.Sub(x.node.config.Clock.Now()), x.run)
}

func (x *expiry) run() {
	now := x.node.config.Clock.Now()
	var urls []address.Address
	x.mu.Lock()
	x.at = time.Time{}
	for len(x.queue) > 0 && !x.queue[0].at.After(now) {
		d := heap.Pop(&x.queue).(*deadline)
		delete(x.watched, d.url)
		urls = append(urls, d.url)
	}
	x.schedule()
	x.mu.Unlock()
	for _, url := range urls {
		x.node.expire(url, now)
	}
}

func (x *expiry) stop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	if x.timer != nil {
		x.timer()
	}
}

// expire ends what has ended by now. Everything else is looked at again when its time comes.
func (n *Node) expire(url address.Address, now time.Time) {
	err := n.change(url, func(current *engine.Entry) (*engine.Entry, error) {
		if current == nil || n.due(current).After(now) {
			return current, nil
		}
		if !current.Live {
			return nil, nil
		}
		next := *current
		next.Live = false
		return &next, nil
	})
	n.logFailed(url, err)
}

// absent calls the entries of a runtime that is away disconnected.
func (n *Node) absent(s *seat) {
	n.changeAll(s.url, func(current *engine.Entry) *engine.Entry {
		if !current.Live || s.client.Load() != nil {
			return current
		}
		next := *current
		next.Live, next.Absent = false, true
		return &next
	})
}

// returned calls those entries live again, for as long as they last.
func (n *Node) returned(runtime address.Address) {
	n.changeAll(runtime, func(current *engine.Entry) *engine.Entry {
		if !current.Absent || !n.config.Clock.Now().Before(current.Ends()) {
			return current
		}
		next := *current
		next.Live, next.Absent = true, false
		return &next
	})
}

// removeEntries removes the entries of a runtime.
func (n *Node) removeEntries(runtime address.Address) {
	n.changeAll(runtime, func(*engine.Entry) *engine.Entry { return nil })
}

// changeAll changes the entries that a runtime owns.
func (n *Node) changeAll(runtime address.Address, change func(*engine.Entry) *engine.Entry) {
	found, err := n.config.Engine.Find(engine.Query{Runtime: runtime})
	if err != nil {
		n.config.Logger.Error("engine failed", "runtime", runtime.String(), "error", err)
		return
	}
	for i := range found {
		url := found[i].URL
		n.logFailed(url, n.change(url, func(current *engine.Entry) (*engine.Entry, error) {
			if current == nil || current.Runtime != runtime {
				return current, nil
			}
			return change(current), nil
		}))
	}
}

func (n *Node) logFailed(url address.Address, err *refusal) {
	if err != nil {
		n.config.Logger.Error("engine failed", "entry", url.String(), "error", err)
	}
}

type deadline struct {
	at    time.Time
	url   address.Address
	index int // in the heap
}

type deadlines []*deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}
func (d *deadlines) Push(x any) {
	x.(*deadline).index = len(*d)
	*d = append(*d, x.(*deadline))
}
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return x
}

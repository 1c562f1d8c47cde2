package soak

import (
	"sync"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// ledger is the history of a round, of all runtimes.
type ledger struct {
	begun time.Time

	lock    sync.Mutex
	records []history.Record
	lives   map[string]int // of each runtime: how often it started, in former rounds
	order   []string       // its keys as they came
	open    map[string]history.Record
	doubt   map[string][2]history.Record // posted and settled, of former rounds: may still be delivered
}

func newLedger() *ledger {
	return &ledger{begun: time.Now(), lives: map[string]int{}, open: map[string]history.Record{}, doubt: map[string][2]history.Record{}}
}

func (l *ledger) log(r history.Record) {
	l.lock.Lock()
	defer l.lock.Unlock()
	r.At = uint64(time.Since(l.begun).Milliseconds())
	l.records = append(l.records, r)
	switch r.Kind {
	case history.Posted:
		l.open[r.Message] = r
	case history.Settled:
		delete(l.open, r.Message)
	}
}

// settle logs what became of a message, unless that was logged: what a life was told at its very end, the next is told again.
func (l *ledger) settle(r history.Record) {
	l.lock.Lock()
	_, owed := l.open[r.Message]
	l.lock.Unlock()
	if owed {
		l.log(r)
	}
}

// owed is how many messages are not settled.
func (l *ledger) owed() int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return len(l.open)
}

// posts is how many messages were posted in this round.
func (l *ledger) posts() (n int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, r := range l.records {
		if r.Kind == history.Posted {
			n++
		}
	}
	return n
}

// close judges the round and begins the next. What was said of it is in the verdict.
func (l *ledger) close() history.Verdict {
	l.lock.Lock()
	defer l.lock.Unlock()
	var all []history.Record
	// A former life each, and one more than that: the first does not count as a loss of memory.
	for _, end := range l.order {
		for range l.lives[end] {
			all = append(all, history.Record{Kind: history.Started, End: end})
		}
	}
	told := map[string]bool{}
	for _, r := range l.records {
		if pair, ok := l.doubt[r.Message]; ok && r.Kind == history.Delivered && !told[r.Message] {
			told[r.Message] = true
			all = append(all, pair[0], pair[1])
		}
	}
	posted := map[string]history.Record{}
	for _, r := range l.records {
		switch {
		case r.Kind == history.Started:
			if l.lives[r.End]++; l.lives[r.End] == 1 {
				l.order = append(l.order, r.End)
			}
		case r.Kind == history.Posted:
			posted[r.Message] = r
		case r.Kind == history.Settled && r.Maybe:
			l.doubt[r.Message] = [2]history.Record{posted[r.Message], r}
		}
	}
	for name := range told {
		delete(l.doubt, name)
	}
	verdict := history.Check(append(all, l.records...), history.Options{})
	l.records = nil
	return verdict
}

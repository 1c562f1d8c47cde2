//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// testCase is one thing that must be so, for each of its pairs.
type testCase struct {
	name  string
	pairs []pair
	short []pair                              // those of a short run that names no cases: each fault once, with the ends that it is hardest for
	run   func(context.Context, *stage) error // an error: not ok
}

var (
	chromes   = pair{chrome, chrome}
	mixed     = pair{chrome, program}
	natives   = pair{program, program}
	foxChrome = pair{fox, chrome}
	foxes     = pair{fox, fox}
	foxNative = pair{fox, program}
)

// every pair of makes that is to get along.
var every = []pair{chromes, mixed, natives, foxChrome, foxes, foxNative}

var cases = []testCase{
	{"main-job", every, []pair{chromes, natives, foxChrome}, mainJob},
	{"close", every, []pair{mixed}, closedConnection},
	{"first-message", []pair{chromes, natives}, []pair{chromes, natives}, firstMessage},
	{"send-before-load", []pair{chromes}, []pair{chromes}, sendBeforeLoad},
	{"page-closed", []pair{chromes, foxChrome, foxes}, []pair{foxChrome}, pageClosed},
	{"page-left", []pair{chromes, foxChrome, foxes}, nil, pageLeft},
	{"browser-killed", []pair{chromes, foxChrome}, []pair{chromes}, browserKilled},
	{"turn", []pair{chromes, natives, foxChrome}, []pair{chromes}, turnOnly},
	{"hidden-tab", []pair{chromes}, []pair{chromes}, hiddenTab},
	{"freeze", []pair{chromes}, []pair{chromes}, frozen},
	{"udp", []pair{mixed, natives, foxNative}, []pair{natives}, vanishingUDP},
	{"no-udp", []pair{mixed, natives}, nil, neverUDP},
	{"loss", []pair{natives}, nil, loss},
	{"large-lost", []pair{natives}, nil, largeLost},
	{"glare", every, []pair{chromes, natives}, glare},
	{"node-restart", every, []pair{mixed}, nodeRestart},
	{"reconnects", every, nil, reconnects},
	{"sizes", every, []pair{chromes}, sizes},
	{"slow-reader", every, nil, slowReader},
	{"two-domains", []pair{chromes, natives}, nil, twoDomains},
}

// played are the pairs that a run plays.
func (c testCase) played(s settings) []pair {
	if s.short && s.names == "" && s.pairs == "" {
		return c.short
	}
	return c.pairs
}

// traffic is how much both ends send, each way.
func (s settings) traffic() (count, rate int) {
	if s.short {
		return 3000, 200
	}
	return 10_000, 500
}

// patience is what a run may take beyond the time that its messages take to be sent.
const patience = 45 * time.Second

// mainJob: the direct path comes up behind the traffic; from one third to two thirds its packets vanish; then they pass.
func mainJob(ctx context.Context, st *stage) error {
	st.wants = wants{gap: 3 * time.Second, leastEach: 0.2}
	return st.bothWays(ctx, func(ctx context.Context, passed func(part float64) error) error {
		if err := passed(1.0 / 3); err != nil {
			return err
		}
		st.note("UDP vanishes")
		if err := st.network.DropUDP(); err != nil {
			return err
		}
		if err := passed(2.0 / 3); err != nil {
			return err
		}
		for _, e := range st.network.Ends() {
			if n, err := e.Dropped(); err != nil || n == 0 {
				return fmt.Errorf("no packet vanished on its way to %s (%v): the direct path was not in use", e.Name, err)
			}
		}
		st.note("UDP passes")
		return st.network.PassUDP()
	})
}

// closedConnection: one side's peer connection is closed behind its runtime's back, in mid traffic; of a native side, which
// shows no such thing, the sockets are.
func closedConnection(ctx context.Context, st *stage) error {
	// No least share: how soon the traffic is back on a direct path is the redialling policy's to say.
	st.wants = wants{gap: 3 * time.Second}
	var closed time.Duration
	if st.pair.a != program {
		// Where sockets vanish nobody is told: a path that is silent is given up, and made anew, only after half a minute.
		st.checks = append(st.checks, func(records []history.Record) error { return returned(records, closed) })
	}
	return st.bothWays(ctx, func(ctx context.Context, passed func(part float64) error) error {
		if err := passed(1.0 / 3); err != nil {
			return err
		}
		closed = st.since()
		st.note("a's peer connection is closed")
		n, err := st.a.closeConnections(ctx)
		if err == nil && n == 0 {
			err = fmt.Errorf("a had no peer connection to close")
		}
		return err
	})
}

// returned says so if either receiver got nothing by the direct path before a time, or nothing at the end.
func returned(records []history.Record, closed time.Duration) error {
	before, after, lastly := map[string]int{}, map[string]int{}, map[string]string{}
	for _, r := range records {
		if r.Kind != history.Delivered {
			continue
		}
		lastly[r.End] = r.Path
		switch {
		case r.Path != "direct":
		case time.Duration(r.At)*time.Millisecond < closed:
			before[r.End]++
		default:
			after[r.End]++
		}
	}
	var wrong error
	for end, path := range lastly {
		if before[end] == 0 || after[end] == 0 || path != "direct" {
			wrong = errors.Join(wrong, fmt.Errorf("%s got %d messages by the direct path before the close, %d after it, and the last by %s",
				end, before[end], after[end], path))
		}
	}
	return wrong
}

// bothWays has both ends send their streams while meanwhile does what it does. passed waits until a has posted that part
// of its messages.
func (st *stage) bothWays(ctx context.Context, meanwhile func(ctx context.Context, passed func(part float64) error) error) error {
	count, rate := st.settings.traffic()
	return st.streams(ctx, plan{Count: count, Rate: rate}, patience, meanwhile)
}

// streams is bothWays with a plan, whose address is that of the other end, and with how long it may take beyond the time
// that its messages take to be sent.
func (st *stage) streams(ctx context.Context, p plan, patience time.Duration, meanwhile func(ctx context.Context, passed func(part float64) error) error) error {
	nominal := time.Duration(p.Count) * time.Second / time.Duration(p.Rate)
	ctx, stop := context.WithTimeout(ctx, nominal+patience)
	defer stop()
	st.wants.sent += 2 * p.Count
	if st.a == nil {
		if err := st.enter(ctx, nil); err != nil {
			return err
		}
		if err := st.connect(ctx); err != nil {
			return err
		}
	}
	passed := func(part float64) error {
		_, err := st.a.news.wait(ctx, eventPosted, func(e event) bool { return e.Count >= int(part*float64(p.Count)) })
		return err
	}
	p.First = st.first
	return both(
		func() error { return st.bothStream(ctx, p) },
		func() error { return meanwhile(ctx, passed) },
	)
}

// bothStream has both ends send by the plan, each to the other.
func (st *stage) bothStream(ctx context.Context, p plan) error {
	stream := func(from, to *side) error {
		p := p
		p.To = to.address
		return from.stream(ctx, p)
	}
	return both(
		func() error { return stream(st.a, st.b) },
		func() error { return stream(st.b, st.a) },
	)
}

// begin starts both ends, and has them send until both prefer the direct path.
func (st *stage) begin(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if err := st.enter(ctx, nil); err != nil {
		return err
	}
	if err := st.connect(ctx); err != nil {
		return err
	}
	return st.untilDirect(ctx)
}

// untilDirect has both ends, which are connected, send until both prefer the direct path.
func (st *stage) untilDirect(ctx context.Context) error {
	for !st.a.prefers("direct") || !st.b.prefers("direct") {
		if err := st.bothStream(ctx, plan{Count: 5, Rate: 10, First: st.first}); err != nil {
			return fmt.Errorf("until both are on the direct path: %w", err)
		}
		st.first += 5
		st.wants.sent += 10
	}
	for _, s := range st.sides() {
		s.news.forget(eventPosted)
	}
	st.note("both are on the direct path")
	return nil
}

// prefers says whether a path is the one that the side said last it prefers.
func (s *side) prefers(path string) bool {
	changes := s.news.of(eventPath)
	return len(changes) > 0 && strings.HasPrefix(changes[len(changes)-1].Text, path)
}

// connect joins both ends to the node.
func (st *stage) connect(ctx context.Context) error {
	return both(
		func() error { return st.a.connect(ctx, st.joining(st.a)) },
		func() error { return st.b.connect(ctx, st.joining(st.b)) },
	)
}

// joining is how a side joins the node of this stage.
func (st *stage) joining(s *side) joining {
	j := joining{URL: st.url(), TURN: st.turn, Trace: st.settings.trace || st.trace}
	if s.witness != nil {
		j.Witness, j.Sudden, j.Keep = s.witness.life(), s.sudden, true
	}
	return j
}

// judge fills the line, and says what is not as this case wants.
func (st *stage) judge(l *line, records []history.Record) error {
	err := st.wants.judge(l, records)
	for _, check := range st.checks {
		err = errors.Join(err, check(records))
	}
	return err
}

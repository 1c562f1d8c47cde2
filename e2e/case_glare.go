//go:build linux

package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// glare: runtimes send each other their first message at one moment. One peer connection survives, the same for both.
func glare(ctx context.Context, st *stage) error {
	rounds, together := 10, 20
	if st.settings.short {
		rounds, together = 2, 10
	}
	const soon = 300 * time.Millisecond // until the barrier falls: both ends have been told by then
	ctx, stop := context.WithTimeout(ctx, time.Duration(rounds)*20*time.Second+patience)
	defer stop()
	st.wants = wants{sent: 2 * rounds * together}
	if err := st.enter(ctx, nil); err != nil {
		return err
	}
	apart, more := time.Duration(0), 0
	for round := range rounds {
		var a, b []string
		gather := func(s *side, addresses *[]string) error {
			return s.call(ctx, "gather", addresses, map[string]any{"url": st.url(), "count": together})
		}
		if err := both(func() error { return gather(st.a, &a) }, func() error { return gather(st.b, &b) }); err != nil {
			return err
		}
		at := st.since() + soon
		meet := func(s *side, peers []string) error {
			return s.call(ctx, "meet", nil, map[string]any{"peers": peers, "at": float64(at+s.offset) / float64(time.Millisecond)})
		}
		if err := both(func() error { return meet(st.a, b) }, func() error { return meet(st.b, a) }); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		var moreOfA, moreOfB int
		settle := func(s *side, peers []string, more *int) error {
			return s.call(ctx, "onDirect", more, map[string]any{"peers": peers})
		}
		if err := both(func() error { return settle(st.a, b, &moreOfA) }, func() error { return settle(st.b, a, &moreOfB) }); err != nil {
			return fmt.Errorf("round %d: not all are on a direct path: %w", round, err)
		}
		st.wants.sent += moreOfA + moreOfB
		more += moreOfA + moreOfB
		var ofA, ofB []guest
		if err := both(func() error { return st.a.call(ctx, "survey", &ofA) }, func() error { return st.b.call(ctx, "survey", &ofB) }); err != nil {
			return err
		}
		for i := range together {
			if err := alike(ofA[i], ofB[i]); err != nil {
				return fmt.Errorf("round %d, %s and %s: %w", round, a[i], b[i], err)
			}
		}
		farthest, err := st.part(ctx)
		if err != nil {
			return err
		}
		apart = max(apart, farthest)
	}
	st.seen["meetings"], st.seen["farthestApartMs"], st.seen["moreMessages"] = rounds*together, apart.Milliseconds(), more
	return nil
}

// part ends the runtimes of a round and keeps their histories. It says how far from each other the first and the last of
// their messages were posted.
func (st *stage) part(ctx context.Context) (apart time.Duration, err error) {
	first, last := time.Duration(1<<62), time.Duration(0)
	for _, s := range st.sides() {
		var lines string
		if err := s.call(ctx, "part", &lines); err != nil {
			return 0, fmt.Errorf("%s: part: %w", s.name, err)
		}
		records, err := history.Read(strings.NewReader(lines))
		if err != nil {
			return 0, err
		}
		for i := range records {
			records[i].At -= uint64(s.offset.Milliseconds())
			if records[i].Kind == history.Posted && strings.HasSuffix(records[i].Message, "#0") {
				at := time.Duration(records[i].At) * time.Millisecond
				first, last = min(first, at), max(last, at)
			}
		}
		st.records = append(st.records, records...)
	}
	return last - first, nil
}

// guest is what an end says of one of its runtimes.
type guest struct {
	Trace []string `json:"trace"`          // what its machine did with peer connections
	Open  *int     `json:"open,omitempty"` // those that the browser has open
}

// alike says so if not exactly one peer connection, of one attempt, is left to two runtimes.
func alike(a, b guest) error {
	for _, g := range []guest{a, b} {
		if g.Open != nil && *g.Open != 1 {
			return fmt.Errorf("one of them has %d open RTCPeerConnections", *g.Open)
		}
	}
	ofA, ofB := standing(a), standing(b)
	if len(ofA) != 1 || len(ofB) != 1 || ofA[0] != ofB[0] {
		return fmt.Errorf("the attempts that stand are %v at a and %v at b\n%s\n--\n%s", ofA, ofB, strings.Join(a.Trace, "\n"), strings.Join(b.Trace, "\n"))
	}
	return nil
}

var ofAttempt = regexp.MustCompile(`^(dial-peer|answer-peer|close-stub) stub=(\d+)(?:.* attempt=(\d+))?`)

// standing are the attempts that a machine has not closed.
func standing(g guest) (attempts []string) {
	var stubs []string
	by := map[string]string{}
	for _, line := range g.Trace {
		m := ofAttempt.FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[1] == "close-stub":
			delete(by, m[2])
		default:
			by[m[2]] = m[3]
			stubs = append(stubs, m[2])
		}
	}
	for _, stub := range stubs {
		if attempt, ok := by[stub]; ok {
			attempts = append(attempts, attempt)
		}
	}
	return attempts
}

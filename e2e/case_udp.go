//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// vanishingUDP: UDP vanishes both ways in mid traffic, passes, vanishes one way, and passes again.
func vanishingUDP(ctx context.Context, st *stage) error {
	st.wants = wants{gap: 3 * time.Second}
	p := plan{Count: 10_000, Rate: 330}
	if st.settings.short {
		p = plan{Count: 2000, Rate: 80}
	}
	var both, one, passes time.Duration
	st.checks = append(st.checks, func(records []history.Record) error { return st.backOnDirect(records, passes) })
	if err := st.begin(ctx); err != nil {
		return err
	}
	return st.streams(ctx, p, patience, func(ctx context.Context, passed func(float64) error) error {
		a, b := st.network.Ends()[0], st.network.Ends()[1]
		for _, step := range []struct {
			at   float64
			what string
			do   func() error
			time *time.Duration
		}{
			{0.15, "UDP vanishes both ways", st.network.DropUDP, &both},
			{0.35, "UDP passes", st.network.PassUDP, nil},
			{0.50, "UDP vanishes on its way to b", b.DropUDP, &one},
			{0.65, "UDP passes", b.PassUDP, &passes},
		} {
			if err := passed(step.at); err != nil {
				return err
			}
			st.note("%s", step.what)
			if step.time != nil {
				*step.time = st.since()
			}
			before, err := vanished(a, b)
			if err := errors.Join(err, step.do()); err != nil {
				return err
			}
			if step.what == "UDP passes" && before == 0 {
				return errors.New("no packet vanished: the direct path was not in use")
			}
		}
		return nil
	})
}

// neverUDP: UDP never passes. All goes by the relay, and a direct path is tried for ever more seldom.
func neverUDP(ctx context.Context, st *stage) error {
	st.wants = wants{gap: 3 * time.Second}
	p := plan{Count: 10_000, Rate: 170}
	if st.settings.short {
		p = plan{Count: 2000, Rate: 50}
	}
	if err := st.network.DropUDP(); err != nil {
		return err
	}
	st.checks = append(st.checks, func(records []history.Record) error {
		var wrong error
		for _, r := range records {
			if r.Kind == history.Delivered && r.Path != "relay" {
				return fmt.Errorf("%s came by the %s path, and there was none", r.Message, r.Path)
			}
		}
		for _, s := range st.sides() {
			wrong = errors.Join(wrong, st.moreSeldom(s))
		}
		return wrong
	})
	return st.streams(ctx, p, patience, func(context.Context, func(float64) error) error { return nil })
}

// moreSeldom says so if a side's peer connections were not made in growing distances.
func (st *stage) moreSeldom(s *side) error {
	var starts []time.Duration
	var apart []float64
	for _, e := range s.news.of(eventConnection) {
		starts = append(starts, e.at.Sub(st.begun))
	}
	for i := 1; i < len(starts); i++ {
		apart = append(apart, round((starts[i] - starts[i-1]).Seconds()))
	}
	st.seen["triesApart-"+s.name] = apart
	const jitter = 0.75 // seconds: an attempt takes as long as it takes, and a busy machine tells late
	var wrong error
	if len(starts) < 3 {
		wrong = fmt.Errorf("%s tried a direct path %d times: that says nothing", s.name, len(starts))
	}
	for i := 1; i < len(apart); i++ {
		if apart[i] < apart[i-1]-jitter {
			wrong = errors.Join(wrong, fmt.Errorf("%s tried again after %v s, and before after %v", s.name, apart[i], apart[i-1]))
		}
	}
	if n := len(apart); n >= 2 && apart[n-1] <= apart[0] {
		wrong = errors.Join(wrong, fmt.Errorf("%s tries as often as at first: %v s apart", s.name, apart))
	}
	return wrong
}

// vanished is how many packets have vanished so far.
func vanished(ends ...interface{ Dropped() (int, error) }) (all int, err error) {
	for _, e := range ends {
		n, failed := e.Dropped()
		all, err = all+n, errors.Join(err, failed)
	}
	return all, err
}

// backOnDirect says so if the last message to either end did not come by the direct path, and keeps how long after a time
// the first one did.
func (st *stage) backOnDirect(records []history.Record, since time.Duration) error {
	first, lastly := map[string]time.Duration{}, map[string]string{}
	for _, r := range records {
		if r.Kind != history.Delivered {
			continue
		}
		lastly[r.End] = r.Path
		at := time.Duration(r.At) * time.Millisecond
		if _, ok := first[r.End]; !ok && at > since && r.Path == "direct" {
			first[r.End] = at - since
		}
	}
	var wrong error
	for _, s := range st.sides() {
		if lastly[s.address] != "direct" {
			wrong = errors.Join(wrong, fmt.Errorf("the last message to %s came by the path %q, %v after the direct one was there again",
				s.name, lastly[s.address], st.since()-since))
			continue
		}
		st.seen["backMs-"+s.name] = first[s.address].Milliseconds()
	}
	return wrong
}

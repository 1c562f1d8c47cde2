//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// frozen: all processes of b's browser stand still, as those of a phone in a pocket do, and go on. Nothing closes anything:
// whoever waits has to find out.
func frozen(ctx context.Context, st *stage) error {
	const resumed = 3 * time.Second
	count, rate, still, offline := 10_000, 500, 45*time.Second, 40*time.Second
	if st.settings.short {
		// The same, made quick: a node that looks more often.
		count, rate, still, offline = 2000, 200, 12*time.Second, 8*time.Second
		if err := st.node.renew(ctx, "--offline-after", offline.String()); err != nil {
			return err
		}
	}
	var stopped span
	st.wants.gap = resumed
	st.checks = append(st.checks, func(records []history.Record) error { return silent(records, st.b.address, stopped) })
	p := plan{Count: count, Rate: rate, Deadline: int((2 * still).Milliseconds()), Most: 1000}
	if err := st.begin(ctx); err != nil {
		return err
	}
	return st.streams(ctx, p, still+patience, func(ctx context.Context, passed func(float64) error) (err error) {
		w, err := st.watch(ctx, st.b.address)
		if w != nil {
			defer w.close()
		}
		if err != nil {
			return err
		}
		if err := passed(0.4); err != nil {
			return err
		}
		group := st.b.group()
		if err := syscall.Kill(-group, syscall.SIGSTOP); err != nil {
			return err
		}
		stopped.from = st.since()
		thaw := time.After(still)
		st.note("b stands still")
		err = w.hear("disconnected", still)
		if err == nil {
			st.seen["offlineAfterMs"] = (st.since() - stopped.from).Milliseconds()
		}
		select {
		case <-thaw:
		case <-ctx.Done():
			err = errors.Join(err, ctx.Err())
		}
		err = errors.Join(err, syscall.Kill(-group, syscall.SIGCONT))
		stopped.to = st.since()
		st.wants.outages = append(st.wants.outages, stopped)
		st.note("b goes on")
		if err != nil {
			return err
		}
		return w.hear("live", patience)
	})
}

// silent says so if an end was handed anything while it stood still: then nothing was tested.
func silent(records []history.Record, end string, while span) error {
	const signal = 200 * time.Millisecond // how far the note of either end may be from the last process's stop, or the first's going on
	for _, r := range records {
		at := time.Duration(r.At) * time.Millisecond
		if r.Kind == history.Delivered && r.End == end && at > while.from+signal && at < while.to-signal {
			return fmt.Errorf("%s was handed %s at %v, while it stood still", end, r.Message, at)
		}
	}
	return nil
}

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

const nodeAway = 2 * time.Second

// nodeRestart: the Message Node dies and starts again with nothing in its memory, while the direct path carries the
// traffic; then the same while there is no other path.
func nodeRestart(ctx context.Context, st *stage) error {
	const back = 3 * time.Second
	p := plan{Count: 10_000, Rate: 330}
	if st.settings.short {
		p = plan{Count: 1500, Rate: 100}
	}
	st.wants = wants{gap: back}
	var first, second span
	st.checks = append(st.checks, func(records []history.Record) error {
		return errors.Join(onlyPath(records, "direct", first), onlyPath(records, "relay", second))
	})
	if err := st.begin(ctx); err != nil {
		return err
	}
	return st.streams(ctx, p, patience, func(ctx context.Context, passed func(float64) error) (err error) {
		if err := passed(0.2); err != nil {
			return err
		}
		if first, err = st.node.again(ctx, nodeAway); err != nil {
			return err
		}
		if err := passed(0.5); err != nil {
			return err
		}
		st.note("UDP vanishes")
		if err := st.network.DropUDP(); err != nil {
			return err
		}
		// The last of the direct path is what is asked for here, not how soon it is given up.
		if err := passed(0.7); err != nil {
			return err
		}
		if second, err = st.node.again(ctx, nodeAway); err != nil {
			return err
		}
		st.wants.outages = append(st.wants.outages, second)
		return nil
	})
}

// onlyPath says so if anything but one path carried messages in a time.
func onlyPath(records []history.Record, path string, while span) error {
	for _, r := range records {
		at := time.Duration(r.At) * time.Millisecond
		if r.Kind == history.Delivered && r.Path != path && at > while.from && at < while.to {
			return fmt.Errorf("%s came by the %s path at %v: it was to be the %s one alone", r.Message, r.Path, at, path)
		}
	}
	return nil
}

// unacknowledged is how many messages are to be on their way at each end when a connection is cut.
const unacknowledged = 50

// reconnects: three times in a row, all that an end has is cut while it has 50 messages on their way.
func reconnects(ctx context.Context, st *stage) error {
	p := plan{Count: 10_000, Rate: 400}
	if st.settings.short {
		p = plan{Count: 2400, Rate: 200}
	}
	var cuts []int
	if err := st.begin(ctx); err != nil {
		return err
	}
	return st.streams(ctx, p, patience, func(ctx context.Context, passed func(float64) error) error {
		if err := passed(0.3); err != nil {
			return err
		}
		// Both carriers at once: packets of the direct path vanish, sockets are reset.
		for range 3 {
			begun := st.since()
			st.note("all is cut")
			if err := errors.Join(st.network.DropUDP(), st.network.CutTCP()); err != nil {
				return err
			}
			for _, s := range st.sides() {
				if err := s.lostNode(ctx, st, begun); err != nil {
					return err
				}
				owed, err := s.waitOwed(ctx, unacknowledged)
				if err != nil {
					return err
				}
				cuts = append(cuts, owed)
			}
			over := st.since()
			if err := errors.Join(st.network.PassTCP(), st.network.PassUDP()); err != nil {
				return err
			}
			st.wants.outages = append(st.wants.outages, span{begun, over})
			st.note("all passes")
			for _, s := range st.sides() {
				if err := s.foundNode(ctx, st, over); err != nil {
					return err
				}
			}
		}
		st.seen["unacknowledged"] = cuts
		return nil
	})
}

// lostNode waits until a side knows that its socket is gone, which it does after a time.
func (s *side) lostNode(ctx context.Context, st *stage, after time.Duration) error {
	_, err := s.news.wait(ctx, eventNode, func(e event) bool { return e.Text == "disconnected" && e.at.Sub(st.begun) > after })
	return err
}

// foundNode waits until a side has a socket again.
func (s *side) foundNode(ctx context.Context, st *stage, after time.Duration) error {
	_, err := s.news.wait(ctx, eventNode, func(e event) bool { return e.Text == "live" && e.at.Sub(st.begun) > after })
	return err
}

// waitOwed waits until a side has so many messages on their way, and says how many it has.
func (s *side) waitOwed(ctx context.Context, least int) (int, error) {
	for {
		n, err := s.owed(ctx)
		if err != nil || n >= least {
			return n, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
}

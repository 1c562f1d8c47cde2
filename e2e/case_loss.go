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

// loss: the direct path is 100 ms long each way, and loses 5, 20, 40 and then 0 in a hundred of its packets.
func loss(ctx context.Context, st *stage) error {
	const each = 100 * time.Millisecond
	p := plan{Count: 10_000, Rate: 250}
	if st.settings.short {
		p = plan{Count: 2400, Rate: 100}
	}
	st.wants = wants{gap: 3 * time.Second}
	if err := st.begin(ctx); err != nil {
		return err
	}
	a, b := st.network.Ends()[0], st.network.Ends()[1]
	short, err := b.Delay(each)
	if err != nil {
		return err
	}
	st.note("the direct path is %v long", each)
	var begun []time.Duration
	percents := []int{5, 20, 40, 0}
	st.checks = append(st.checks, st.explained, func(records []history.Record) error {
		for i, percent := range percents {
			until := st.since()
			if i+1 < len(begun) {
				until = begun[i+1]
			}
			st.seen[fmt.Sprintf("directAt%d", percent)] = shareBetween(records, "direct", span{begun[i], until})
		}
		return nil
	})
	lost := map[string]int{}
	// vanished is an error unless packets have vanished at both ends since it was asked last.
	vanished := func(percent int) error {
		for _, e := range st.network.Ends() {
			n, err := e.Dropped()
			if err != nil {
				return err
			}
			if n == lost[e.Name] {
				return fmt.Errorf("no packet vanished on its way to %s, of which %d %% should", e.Name, percent)
			}
			lost[e.Name] = n
		}
		return nil
	}
	err = st.streams(ctx, p, patience, func(ctx context.Context, passed func(float64) error) error {
		for i, percent := range percents {
			if err := passed(float64(i) / float64(len(percents))); err != nil {
				return err
			}
			if i > 0 {
				if err := vanished(percents[i-1]); err != nil {
					return err
				}
			}
			st.note("it loses %d %%", percent)
			begun = append(begun, st.since())
			lose := func(e interface {
				LoseUDP(int) error
				PassUDP() error
			}) error {
				if percent == 0 {
					return e.PassUDP()
				}
				return e.LoseUDP(percent)
			}
			if err := errors.Join(lose(a), lose(b)); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, short())
}

// largeLost: the direct path drops all packets of more than 1000 bytes, while the messages are larger. Small probes pass.
func largeLost(ctx context.Context, st *stage) error {
	const most, size = 1000, 3000
	p := plan{Count: 10_000, Rate: 250, Size: size}
	if st.settings.short {
		p = plan{Count: 2000, Rate: 100, Size: size}
	}
	st.wants = wants{gap: 3 * time.Second}
	var fault span
	// Nothing arrives by it, so the share of messages says nothing: what a side prefers does.
	const noticed = 8 * time.Second
	st.checks = append(st.checks, st.explained, func([]history.Record) (wrong error) {
		for _, s := range st.sides() {
			if at, ok := st.preferred(s, "direct", span{fault.from + noticed, fault.to}); ok {
				wrong = errors.Join(wrong, fmt.Errorf("%s preferred the direct path %v after it began to drop large packets", s.name, at-fault.from))
			}
		}
		return wrong
	})
	if err := st.begin(ctx); err != nil {
		return err
	}
	return st.streams(ctx, p, patience, func(ctx context.Context, passed func(float64) error) error {
		if err := passed(0.2); err != nil {
			return err
		}
		fault.from = st.since()
		st.note("packets above %d bytes vanish", most)
		for _, e := range st.network.Ends() {
			if err := e.DropLargeUDP(most); err != nil {
				return err
			}
		}
		// A new connection has to be seen through before anything is sent by it.
		if err := passed(0.5); err != nil {
			return err
		}
		st.note("a's peer connection is closed")
		if _, err := st.a.closeConnections(ctx); err != nil {
			return err
		}
		if err := passed(0.9); err != nil {
			return err
		}
		fault.to = st.since()
		st.note("all packets pass")
		return st.network.PassUDP()
	})
}

// preferred says when in a time a side preferred a path, if it did.
func (st *stage) preferred(s *side, path string, while span) (at time.Duration, ok bool) {
	is := false
	for _, e := range s.news.of(eventPath) {
		now := e.at.Sub(st.begun)
		if is && now > while.from {
			return max(at, while.from), true
		}
		if now >= while.to {
			return 0, false
		}
		is, at = strings.HasPrefix(e.Text, path+": "), now
	}
	return max(at, while.from), is
}

// explained says so if a side changed its path and did not say why.
func (st *stage) explained([]history.Record) (wrong error) {
	for _, s := range st.sides() {
		changes := s.news.of(eventPath)
		for _, e := range changes {
			if path, why, ok := strings.Cut(e.Text, ": "); !ok || path == "" || why == "" {
				wrong = errors.Join(wrong, fmt.Errorf("%s changed its path and did not say why: %q", s.name, e.Text))
			}
		}
		if len(changes) == 0 {
			wrong = errors.Join(wrong, fmt.Errorf("%s says nothing of its paths", s.name))
		}
	}
	return wrong
}

// shareBetween is the share of a path in what was delivered in a time.
func shareBetween(records []history.Record, path string, while span) float64 {
	var all, by int
	for _, r := range records {
		at := time.Duration(r.At) * time.Millisecond
		if r.Kind != history.Delivered || at < while.from || at >= while.to {
			continue
		}
		if all++; r.Path == path {
			by++
		}
	}
	if all == 0 {
		return 0
	}
	return round(float64(by) / float64(all))
}

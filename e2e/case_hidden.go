//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hyroute/hyroute/e2e/chromium"
	"github.com/hyroute/hyroute/scenarios/history"
)

const (
	hiddenRate = 10 // messages a second

	// timerAlignment is how coarse the timers of a hidden tab are; transit is what a message may take beside them.
	timerAlignment = time.Second
	transit        = 150 * time.Millisecond
)

// hiddenTab: a tab that is hidden goes on, by the same path, and nothing is later than its browser's timers are slow.
func hiddenTab(ctx context.Context, st *stage) error {
	before, hidden, after := 50, 600, 20 // messages
	if st.settings.short {
		hidden = 150
	}
	count := before + hidden + after
	nominal := time.Duration(count) * time.Second / hiddenRate
	ctx, stop := context.WithTimeout(ctx, nominal+patience)
	defer stop()
	st.wants = wants{sent: 2 * count}
	if err := st.enter(ctx, nil); err != nil {
		return err
	}
	if err := st.connect(ctx); err != nil {
		return err
	}
	passed := func(n int) error {
		_, err := st.a.news.wait(ctx, eventPosted, func(e event) bool { return e.Count >= n })
		return err
	}
	var from, to time.Duration
	hide := func() error {
		page := st.b.end.(*browser).page.(*chromium.Page)
		if err := passed(before); err != nil {
			return err
		}
		if err := page.Hide(ctx); err != nil {
			return err
		}
		from = st.since()
		st.note("b is hidden")
		if err := passed(before + hidden); err != nil {
			return err
		}
		var state string
		if err := page.Eval(ctx, "document.visibilityState", &state); err != nil || state != "hidden" {
			return fmt.Errorf("b was %q and not hidden (%v)", state, err)
		}
		to = st.since()
		st.note("b is shown")
		return page.Show(ctx)
	}
	st.checks = append(st.checks, func(records []history.Record) error {
		return errors.Join(st.pathKept(records, from, to), onTime(records, from, to))
	})
	return both(func() error {
		return both(
			func() error { return st.a.stream(ctx, plan{To: st.b.address, Count: count, Rate: hiddenRate}) },
			func() error { return st.b.stream(ctx, plan{To: st.a.address, Count: count, Rate: hiddenRate}) },
		)
	}, hide)
}

// pathKept says so if anything left the direct path between two times, or if a runtime said that it did.
func (st *stage) pathKept(records []history.Record, from, to time.Duration) error {
	var left int
	for _, r := range records {
		at := time.Duration(r.At) * time.Millisecond
		if r.Kind == history.Delivered && at > from && at < to && r.Path != "direct" {
			left++
		}
	}
	var err error
	if left > 0 {
		err = fmt.Errorf("%d messages were not delivered by the direct path while the tab was hidden", left)
	}
	for _, s := range st.sides() {
		for _, e := range s.news.of(eventPath) {
			if at := e.at.Sub(st.begun); at > from && at < to {
				err = errors.Join(err, fmt.Errorf("%s changed its path while the tab was hidden: %s", s.name, e.Text))
			}
		}
	}
	return err
}

// onTime says so if a message that was posted between two times was late.
func onTime(records []history.Record, from, to time.Duration) error {
	posted := map[string]time.Duration{}
	for _, r := range records {
		if at := time.Duration(r.At) * time.Millisecond; r.Kind == history.Posted && at > from && at < to {
			posted[r.Message] = at
		}
	}
	var longest time.Duration
	var which string
	for _, r := range records {
		at, ok := posted[r.Message]
		if late := time.Duration(r.At)*time.Millisecond - at; ok && r.Kind == history.Delivered && late > longest {
			longest, which = late, fmt.Sprintf("%s, posted at %v", r.Message, at)
		}
	}
	if longest > timerAlignment+transit {
		return fmt.Errorf("a message was %v late (%s): at most %v was wanted", longest, which, timerAlignment+transit)
	}
	return nil
}

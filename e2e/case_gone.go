//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

const (
	goneFor   = 2 * time.Second // how long a page stays away
	toldIn    = 5 * time.Second // so soon its peer is told that it went, and what that means for what it sent
	nodeIn    = time.Second     // so soon it is told by the node that a program is gone whose processes are
	backIn    = 3 * time.Second // so soon after its return messages are delivered again, each way
	goneLimit = 2 * time.Minute // beyond the time of the messages: a browser starts again on a busy machine
)

// way is how a page goes, and how it comes back.
type way struct {
	leave, enter func(context.Context, *browser) error
	kept         bool // session.md 3.5 promises that its state comes back with it
	sudden       bool // nothing that it does is known unless it waits until it is
}

var (
	closing = way{
		leave: func(ctx context.Context, b *browser) error { return b.page.Close(ctx) },
		enter: func(ctx context.Context, b *browser) error { return b.open(ctx) },
		kept:  true,
	}
	navigating = way{
		leave: func(ctx context.Context, b *browser) error { return b.page.Open(ctx, "about:blank") },
		enter: func(ctx context.Context, b *browser) error { return b.load(ctx) },
		kept:  true,
	}
	killing = way{
		leave: func(_ context.Context, b *browser) error {
			return errors.Join(b.process.Signal(syscall.SIGKILL), b.process.Close())
		},
		enter:  func(ctx context.Context, b *browser) error { return b.start(ctx) },
		sudden: true,
	}
)

// pageClosed, pageLeft and browserKilled: a's page goes while traffic flows both ways, and comes back. What was promised holds:
// nothing is lost, repeated or reordered, where the page could do its last act; else both sides are told.
func pageClosed(ctx context.Context, st *stage) error    { return st.goneAndBack(ctx, closing) }
func pageLeft(ctx context.Context, st *stage) error      { return st.goneAndBack(ctx, navigating) }
func browserKilled(ctx context.Context, st *stage) error { return st.goneAndBack(ctx, killing) }

func (st *stage) goneAndBack(ctx context.Context, how way) error {
	p := plan{Count: 10_000, Rate: 100, Deadline: int(goneLimit.Milliseconds())}
	if st.settings.short {
		p.Count, p.Rate = 500, 25
	}
	ctx, stop := context.WithTimeout(ctx, time.Duration(p.Count)*time.Second/time.Duration(p.Rate)+goneLimit)
	defer stop()
	st.wants = wants{sent: 2 * p.Count, forgetful: !how.kept}
	if err := st.enter(ctx, nil); err != nil {
		return err
	}
	if err := st.attend(st.a, how.sudden); err != nil {
		return err
	}
	if err := st.connect(ctx); err != nil {
		return err
	}
	page := st.a.end.(*browser)
	toA, toB := p, p
	toA.To, toB.To = st.a.address, st.b.address
	life, end := context.WithCancel(ctx)
	defer end()
	var gone, entered, back time.Duration
	st.checks = append(st.checks, func(records []history.Record) error { return st.toldInTime(records, gone, entered, back, how) })
	return both(
		func() error { return st.b.stream(ctx, toA) },
		func() error {
			first := make(chan struct{})
			go func() {
				defer close(first)
				st.a.stream(life, toB) // ends with the page
			}()
			_, err := st.b.news.wait(ctx, eventPosted, func(e event) bool { return e.Count >= p.Count/3 })
			if err == nil {
				// The end of a direct path is what b notices.
				_, err = st.b.news.wait(ctx, eventPath, func(event) bool { return st.b.prefers("direct") })
			}
			if err != nil {
				return err
			}
			gone = st.since()
			st.note("a goes")
			err = how.leave(ctx, page)
			end()
			<-first
			if err == nil && !how.sudden {
				err = st.a.witness.end(ctx, 1)
			}
			if err != nil {
				return fmt.Errorf("a goes: %w", err)
			}
			select {
			case <-time.After(goneFor):
			case <-ctx.Done():
				return ctx.Err()
			}
			// What it did in its last moments is known by now.
			toB.First = st.a.witness.posted()
			toB.Count -= toB.First
			if err := how.enter(ctx, page); err != nil {
				return fmt.Errorf("a comes back: %w", err)
			}
			entered = st.since()
			if !how.sudden {
				stored, err := st.a.stored(ctx)
				if err != nil {
					return err
				}
				st.seen["stored"] = stored
				if !stored {
					// What holds without a state is judged too.
					how.kept, st.wants.forgetful = false, true
					st.checks = append(st.checks, func([]history.Record) error { return errors.New("a's page did not store its state") })
				}
			}
			if !how.kept {
				st.a.witness.forgot()
			}
			before := st.a.address
			if err := st.a.connect(ctx, st.joining(st.a)); err != nil {
				return err
			}
			back = st.since()
			st.note("a is back, and has posted %d messages before", toB.First)
			if st.a.address != before {
				return fmt.Errorf("a was %s, and comes back as %s", before, st.a.address)
			}
			return st.a.stream(ctx, toB)
		},
	)
}

// toldInTime says so if b was told too late that a was gone, or either of what was lost with it, or if messages did not soon
// flow again.
func (st *stage) toldInTime(records []history.Record, gone, entered, back time.Duration, how way) (wrong error) {
	if back == 0 {
		return nil // it never came so far
	}
	kept, within := how.kept, toldIn
	if how.sudden {
		within = nodeIn
	}
	at := func(r history.Record) time.Duration { return time.Duration(r.At) * time.Millisecond }
	told := func(what, name, text string, within time.Duration) {
		i := slices.IndexFunc(st.b.news.all(), func(e event) bool {
			return e.Name == name && strings.HasPrefix(e.Text, text) && e.at.Sub(st.begun) > gone
		})
		if i < 0 {
			wrong = errors.Join(wrong, fmt.Errorf("b was never told that %s", what))
			return
		}
		took := st.b.news.all()[i].at.Sub(st.begun) - gone
		st.seen[name+"Ms"] = took.Milliseconds()
		if took > within {
			wrong = errors.Join(wrong, fmt.Errorf("b was told after %v that %s: %v was wanted", took, what, within))
		}
	}
	told("the path to a is another one", eventPath, "", toldIn)
	told("a is gone", eventPresence, "disconnected", within)
	if last := st.b.news.of(eventPresence); len(last) > 0 && !strings.HasPrefix(last[len(last)-1].Text, "live") {
		wrong = errors.Join(wrong, errors.New("b was never told that a is back"))
	}
	for _, s := range st.sides() {
		i := slices.IndexFunc(records, func(r history.Record) bool {
			return r.Kind == history.Delivered && r.End == s.address && at(r) > entered
		})
		if i < 0 {
			wrong = errors.Join(wrong, fmt.Errorf("%s got nothing after a was back", s.name))
			continue
		}
		took := max(0, at(records[i])-back) // much may come before it is known that a has connected
		st.seen["first"+s.name+"Ms"] = took.Milliseconds()
		if took > backIn {
			wrong = errors.Join(wrong, fmt.Errorf("%s waited %v for a message after a was back: %v was wanted", s.name, took, backIn))
		}
	}
	for _, kind := range []history.Kind{history.Reset, history.Gap} {
		i := slices.IndexFunc(records, func(r history.Record) bool { return r.Kind == kind && r.End == st.b.address })
		switch {
		case kept && i >= 0:
			wrong = errors.Join(wrong, fmt.Errorf("b was told of a %s, though a kept its state", kind))
		case !kept && i < 0:
			wrong = errors.Join(wrong, fmt.Errorf("b was never told of a %s", kind))
		case !kept:
			took := at(records[i]) - back
			st.seen[kind.String()+"Ms"] = took.Milliseconds()
			if took > toldIn {
				wrong = errors.Join(wrong, fmt.Errorf("b was told of a %s %v after a was back: %v was wanted", kind, took, toldIn))
			}
		}
	}
	return wrong
}

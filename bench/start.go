//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// visits are what comes before a start that is timed, as to a page that its user was on before: the first fills the browser's cache,
// the second its cache of compiled code. Modules get there some time after they were in use.
const (
	visits     = 2
	visitTrips = 500
	visitRest  = 2500 * time.Millisecond
)

// ahead stands before the names of a second start's values: its page loaded before what its library can load before it is called.
const ahead = "ahead "

// flowEvery is how long the sender waits between messages while a direct path is set up behind them.
const flowEvery = 4 // ms

// start: from the start of the script to the first message at the other side, and to the first by the direct path. All that is loaded
// is in the browser's cache, and the receiver is there.
func (b *bench) start(ctx context.Context, s subject) (results []result, err error) {
	p, err := b.newReceiver(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close(context.WithoutCancel(ctx))) }()
	tab, err := b.browser.NewTab(ctx, os.Stderr) // only there compiled code is kept
	if err != nil {
		return nil, err
	}
	if p.a, err = b.load(ctx, tab, s); err != nil {
		return nil, errors.Join(err, tab.Close(ctx))
	}
	room := p.room
	for visit := range visits {
		p.room = fmt.Sprintf("%s-visit-%d", room, visit)
		if err := p.visit(ctx); err != nil {
			return nil, fmt.Errorf("visit: %w", err)
		}
	}
	p.room = room
	if results, err = p.timedStart(ctx); err != nil {
		return nil, err
	}
	p.room = room + "-ahead"
	if err := p.again(ctx); err != nil {
		return nil, err
	}
	var able bool
	if err := p.a.Call(ctx, "ahead", &able); err != nil || !able {
		return results, err
	}
	second, err := p.timedStart(ctx)
	if err != nil {
		return nil, err
	}
	for name, value := range second[0].Values {
		results[0].Values[ahead+name] = value
	}
	return results, nil
}

// visit has the ends talk, and loads both pages again.
func (p *pair) visit(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	if err := p.a.Call(ctx, "trips", nil, map[string]any{"count": visitTrips, "warm": 0, "size": 64}); err != nil {
		return err
	}
	if err := pause(ctx, visitRest); err != nil {
		return err
	}
	return p.again(ctx)
}

// again loads both pages again.
func (p *pair) again(ctx context.Context) error {
	for _, e := range []*end{&p.a, &p.b} {
		again, err := p.bench.load(ctx, (*e).(page).Page, p.subject)
		if err != nil {
			return err
		}
		*e = again
	}
	return nil
}

func (p *pair) timedStart(ctx context.Context) ([]result, error) {
	// Ends that have an address without a name go by that one.
	options, receiver := p.options("a"), p.options("b")
	options["named"], receiver["named"] = false, false
	var address string
	if err := p.b.Call(ctx, "open", &address, receiver); err != nil {
		return nil, fmt.Errorf("the receiver opens: %w", err)
	}
	options["peer"] = address
	from, err := zeroOf(ctx, p.a)
	if err != nil {
		return nil, err
	}
	to, err := zeroOf(ctx, p.b)
	if err != nil {
		return nil, err
	}
	if err := p.b.Call(ctx, "expectFirst", nil, map[string]any{"direct": p.subject.direct}); err != nil {
		return nil, err
	}
	var begun struct{ Begun, Ready float64 }
	if err := p.a.Call(ctx, "start", &begun, options); err != nil {
		return nil, err
	}
	flowed := make(chan error, 1)
	go func() { flowed <- p.a.Call(ctx, "flow", nil, map[string]any{"every": flowEvery}) }()
	var at firsts
	if err := p.b.Call(ctx, "first", &at); err != nil {
		return nil, fmt.Errorf("the first message: %w", err)
	}
	if err := p.a.Call(ctx, "stop", nil); err != nil {
		return nil, err
	}
	if err := <-flowed; err != nil {
		return nil, err
	}
	start := from.Add(milliseconds(begun.Begun))
	values := map[string]float64{
		"ready": begun.Ready - begun.Begun,
		"first": inMS(to.Add(milliseconds(at.First)).Sub(start)),
	}
	if p.subject.direct {
		values["direct"] = inMS(to.Add(milliseconds(at.Direct)).Sub(start))
	}
	return []result{{Values: values}}, nil
}

// firsts are when the first message came, and the first by the direct path, on the receiver's clock.
type firsts struct{ First, Direct float64 }

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
func inMS(d time.Duration) float64          { return float64(d) / float64(time.Millisecond) }

// zeroOf is when a page's clock was at 0, on ours. The closest of some questions is off by less than half its way there and back.
func zeroOf(ctx context.Context, p end) (time.Time, error) {
	var zero time.Time
	best := time.Hour
	for range 16 {
		var now float64
		asked := time.Now()
		if err := p.Call(ctx, "now", &now); err != nil {
			return time.Time{}, err
		}
		if took := time.Since(asked); took < best {
			best, zero = took, asked.Add(took/2-milliseconds(now))
		}
	}
	return zero, nil
}

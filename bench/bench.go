//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hyroute/hyroute/e2e/chromium"
)

// firstPort is where the servers' ports begin. Each server has one of its own.
const firstPort = 18_000

// bench is a run.
type bench struct {
	settings settings
	site     *site
	record   *record
	browser  *chromium.Browser // of this round
	last     atomic.Int64      // number of the last pair
}

// part is something that is measured of every subject.
type part struct {
	name    string
	measure func(b *bench, ctx context.Context, s subject) ([]result, error)
	most    time.Duration // that one subject may take in one round
	pages   bool          // pages only: native ends are passed over
	bundled bool          // of bundles that the libraries' installation makes
	// together is how many subjects are measured at a time. 0: one.
	together int
}

var parts = []part{
	{name: "rtt", measure: (*bench).rtt, most: 3 * time.Minute},
	{name: "speed", measure: (*bench).speed, most: 2 * time.Minute},
	{name: "start", measure: (*bench).start, most: time.Minute, pages: true},
	{name: "cold", measure: (*bench).cold, most: time.Minute, pages: true, bundled: true},
	{name: "death", measure: (*bench).deaths, most: 5 * time.Minute, pages: true, together: together},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func pickParts(list string) ([]part, error) {
	wanted := strings.Split(list, ",")
	var picked []part
	for _, p := range parts {
		if slices.Contains(wanted, p.name) || list == "all" {
			picked = append(picked, p)
		}
	}
	for _, name := range wanted {
		if name != "all" && !slices.Contains(partNames(), name) {
			return nil, fmt.Errorf("there is no part %q: there are %s", name, strings.Join(partNames(), ", "))
		}
	}
	return picked, nil
}

// round measures all parts of all subjects once, in a browser of its own. Every second round goes the other way round.
func (b *bench) round(ctx context.Context, round int, who []subject, what []part) (err error) {
	program, err := chromium.Find()
	if err != nil {
		return err
	}
	if b.browser, err = chromium.Start(exec.CommandContext(ctx, program)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.browser.Close()) }()
	who = slices.Clone(who)
	if round%2 == 0 {
		slices.Reverse(who)
	}
	for _, p := range what {
		places := make(chan struct{}, max(1, p.together))
		var running sync.WaitGroup
		for _, s := range who {
			if p.pages && s.script == "" {
				continue
			}
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				b.measure(ctx, round, p, s)
			})
		}
		running.Wait()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// measure measures a part of a subject, and records what came of it.
func (b *bench) measure(ctx context.Context, round int, p part, s subject) {
	fmt.Fprintf(os.Stderr, "round %d of %d: %s of %s\n", round, b.settings.rounds, p.name, s.name)
	within, stop := context.WithTimeout(ctx, p.most)
	defer stop()
	results, err := p.measure(b, within, s)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "  %s of %s failed: %v\n", p.name, s.name, err)
		results = append(results, result{Text: err.Error()})
	}
	for _, r := range results {
		r.Part, r.Subject, r.Round = p.name, s.name, round
		b.record.add(r)
	}
}

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hyroute/hyroute/e2e/chromium"
)

// networks are the conditions of a cold start, by name: ms of latency, and bytes a second.
var networks = []struct {
	name           string
	latency, bytes float64
}{{name: "plain"}, {"40 ms, 10 Mbit/s", 40, 1.25e6}}

// cold: from the navigation to a page that was never loaded, to its first message at the other side, which is there.
func (b *bench) cold(ctx context.Context, s subject) (results []result, err error) {
	for _, network := range networks {
		r, err := b.coldOnce(ctx, s, network.latency, network.bytes)
		if err != nil {
			return results, fmt.Errorf("%s: %w", network.name, err)
		}
		r.Case = network.name
		results = append(results, r)
	}
	return results, nil
}

func (b *bench) coldOnce(ctx context.Context, s subject, latency, bytes float64) (one result, err error) {
	p, err := b.newReceiver(ctx, s)
	if err != nil {
		return one, err
	}
	defer func() { err = errors.Join(err, p.close(context.WithoutCancel(ctx))) }()
	var address string
	if err := p.b.Call(ctx, "open", &address, p.options("b")); err != nil {
		return one, fmt.Errorf("the receiver opens: %w", err)
	}
	to, err := zeroOf(ctx, p.b)
	if err != nil {
		return one, err
	}
	tab, err := b.browser.NewPage(ctx, os.Stderr)
	if err != nil {
		return one, err
	}
	p.a = coldPage{tab}
	traffic, err := tab.Watch(ctx)
	if err != nil {
		return one, err
	}
	if latency > 0 {
		if err := tab.Throttle(ctx, latency, bytes); err != nil {
			return one, err
		}
	}
	options := p.options("a")
	options["peer"] = address
	if err := p.b.Call(ctx, "expectFirst", nil, map[string]any{"direct": false}); err != nil {
		return one, err
	}
	if err := tab.Open(ctx, b.site.coldURL(s.script, options)); err != nil {
		return one, err
	}
	var at firsts
	if err := p.b.Call(ctx, "first", &at); err != nil {
		return one, fmt.Errorf("the first message: %w", err)
	}
	from, err := zeroOf(ctx, p.a) // where a page's clock begins is the navigation
	if err != nil {
		return one, err
	}
	sum := traffic()
	return result{Values: map[string]float64{
		"ms": inMS(to.Add(milliseconds(at.First)).Sub(from)), "http": float64(sum.HTTP), "requests": float64(sum.Requests),
		"frames": float64(sum.Frames), "sockets": float64(sum.Sockets),
	}}, nil
}

// coldPage is a tab without the measuring page.
type coldPage struct{ *chromium.Page }

func (p coldPage) Call(ctx context.Context, function string, result any, arguments ...any) error {
	return p.Page.Call(ctx, "performance."+function, result, arguments...)
}

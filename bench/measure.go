//go:build linux

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"github.com/hyroute/hyroute/e2e/chromium"
)

//go:embed page
var pages embed.FS

// subject is one way for two pages to talk.
type subject struct {
	name    string
	script  string // in page/
	options map[string]any
}

var subjects = []subject{
	{"bare WebSocket relay", "websocket.js", nil},
	{"hyroute by the relay", "hyroute.js", map[string]any{"direct": false}},
	{"bare data channel", "channel.js", nil},
	{"hyroute direct", "hyroute.js", map[string]any{"direct": true}},
}

// sizes of the messages that rates are measured with, in bytes.
var sizes = []int{200, 16_384}

// sample is what one round gave.
type sample struct {
	p50, p99 float64         // ms, there and back
	rate     map[int]float64 // messages a second, by size
}

// measure opens two new pages and has them talk.
func measure(ctx context.Context, s settings, browsers []*chromium.Browser, what subject, round int) (sample, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	a, err := openPage(ctx, browsers[0])
	if err != nil {
		return sample{}, err
	}
	b, err := openPage(ctx, browsers[1])
	if err != nil {
		return sample{}, errors.Join(err, a.Close(ctx))
	}
	got, err := talk(ctx, s, a, b, what, fmt.Sprintf("%s-%d", path.Base(what.script), round))
	return got, errors.Join(err, a.Close(ctx), b.Close(ctx))
}

func talk(ctx context.Context, s settings, a, b *chromium.Page, what subject, room string) (sample, error) {
	options := map[string]any{
		"script": "/bench/" + what.script, "room": room, "relay": "ws://" + relayAddress + "/", "node": "ws://" + nodeAddress + "/ws",
	}
	for name, value := range what.options {
		options[name] = value
	}
	var address string
	if err := b.Call(ctx, "bench.open", &address, options); err != nil {
		return sample{}, err
	}
	options["peer"] = address
	if err := a.Call(ctx, "bench.open", nil, options); err != nil {
		return sample{}, err
	}
	var latency struct{ P50, P99 float64 }
	if err := a.Call(ctx, "bench.pingpong", &latency, map[string]any{"rounds": 1000, "warm": 100, "size": 64}); err != nil {
		return sample{}, err
	}
	got := sample{p50: latency.P50, p99: latency.P99, rate: map[int]float64{}}
	for _, size := range sizes {
		if err := a.Call(ctx, "bench.blast", nil, map[string]any{"size": size, "ms": s.blast}); err != nil {
			return sample{}, err
		}
		var rate float64
		if err := b.Call(ctx, "bench.rate", &rate); err != nil {
			return sample{}, err
		}
		got.rate[size] = rate
	}
	return got, nil
}

func openPage(ctx context.Context, b *chromium.Browser) (*chromium.Page, error) {
	page, err := b.NewPage(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	err = page.Serve(ctx, func(name string) (chromium.Response, bool) {
		body, err := pages.ReadFile("page/" + path.Base(name))
		return chromium.Response{Type: "text/javascript; charset=utf-8", Body: body}, err == nil
	}, "/bench/*")
	if err != nil {
		return nil, err
	}
	// The document comes from the node: to one that has no address the browser shuts the local network.
	if err := page.Open(ctx, "http://"+nodeAddress+"/hyroute.js"); err != nil {
		return nil, err
	}
	return page, page.Eval(ctx, "import('/bench/bench.js').then(() => true)", nil)
}

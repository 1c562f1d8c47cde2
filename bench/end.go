//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hyroute/hyroute/e2e/chromium"
)

// end is one of the two that talk: a page or a native process. Both know the same calls; page/bench.js describes them.
type end interface {
	// Call calls a function with arguments, and reads its answer into result unless that is nil.
	Call(ctx context.Context, function string, result any, arguments ...any) error
	Close(ctx context.Context) error
}

// page is a tab with the measuring page.
type page struct{ *chromium.Page }

func (p page) Call(ctx context.Context, function string, result any, arguments ...any) error {
	return p.Page.Call(ctx, "bench."+function, result, arguments...)
}

// openPage opens the measuring page with a subject's script in it.
func (b *bench) openPage(ctx context.Context, s subject) (page, error) {
	tab, err := b.browser.NewPage(ctx, os.Stderr)
	if err != nil {
		return page{}, err
	}
	return b.load(ctx, tab, s)
}

func (b *bench) load(ctx context.Context, tab *chromium.Page, s subject) (page, error) {
	if err := tab.Open(ctx, b.site.url("/bench/page.html")); err != nil {
		return page{}, err
	}
	p := page{tab}
	return p, p.load(ctx, s)
}

// load has a page load a subject's script.
func (p page) load(ctx context.Context, s subject) error {
	return p.Call(ctx, "load", nil, "/bench/subjects/"+s.script+".js")
}

// pair is two ends that can talk, with the server between them. a sends and b receives.
type pair struct {
	subject subject
	bench   *bench
	server  *server
	a, b    end
	room    string
	keep    bool // what can outlive a page is to
}

// options are what an end opens its subject with.
func (p *pair) options(role string) map[string]any {
	options := map[string]any{"role": role, "room": p.room, "port": p.server.port, "keep": p.keep}
	for name, value := range p.subject.options {
		options[name] = value
	}
	return options
}

// newPair starts a server and two ends; neither has opened its subject.
func (b *bench) newPair(ctx context.Context, s subject) (*pair, error) {
	p, err := b.newReceiver(ctx, s)
	if err != nil {
		return nil, err
	}
	if p.a, err = b.newEnd(ctx, s); err != nil {
		return nil, errors.Join(err, p.close(ctx))
	}
	return p, nil
}

// newReceiver starts a server and the receiving end.
func (b *bench) newReceiver(ctx context.Context, s subject) (*pair, error) {
	number := int(b.last.Add(1))
	p := &pair{subject: s, bench: b, room: fmt.Sprintf("%s-%d", s.name, number)}
	var err error
	if p.server, err = b.startServer(ctx, s.server, firstPort+number); err != nil {
		return nil, err
	}
	if p.b, err = b.newEnd(ctx, s); err != nil {
		return nil, errors.Join(err, p.close(ctx))
	}
	return p, nil
}

func (b *bench) newEnd(ctx context.Context, s subject) (end, error) {
	if s.script == "" {
		return startNative(ctx, s.name)
	}
	p, err := b.openPage(ctx, s)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// open makes the ends ready to talk.
func (p *pair) open(ctx context.Context) error {
	options := p.options("a")
	var address string
	if err := p.b.Call(ctx, "open", &address, p.options("b")); err != nil {
		return fmt.Errorf("the receiver opens: %w", err)
	}
	options["peer"] = address
	if err := p.a.Call(ctx, "open", nil, options); err != nil {
		return fmt.Errorf("the sender opens: %w", err)
	}
	return nil
}

// cpu is what the ends and their server have used so far, of browsers all processes.
func (p *pair) cpu() (used, error) {
	var ends []int
	for _, e := range []end{p.a, p.b} {
		if n, ok := e.(*nativeEnd); ok {
			ends = append(ends, n.command.Process.Pid)
		} else {
			ends = append(ends, p.bench.browser.Process())
		}
	}
	var u used
	var err error
	if u.ends, err = cpuOf(ends...); err != nil {
		return used{}, err
	}
	u.server, err = cpuOf(p.server.command.Process.Pid)
	return u, err
}

// close ends all of it.
func (p *pair) close(ctx context.Context) error {
	var err error
	for _, e := range []end{p.a, p.b} {
		if e != nil {
			err = errors.Join(err, e.Close(ctx))
		}
	}
	return errors.Join(err, p.server.kill())
}

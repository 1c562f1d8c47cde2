//go:build linux

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path"
	"syscall"

	"github.com/hyroute/hyroute/e2e/chromium"
	"github.com/hyroute/hyroute/e2e/driver"
	"github.com/hyroute/hyroute/e2e/firefox"
	"github.com/hyroute/hyroute/e2e/lan"
)

//go:embed page
var pages embed.FS

// browser is a peer that is a page, in a browser of its own.
type browser struct {
	process process
	page    page
	logged  tail
}

// process is a running browser.
type process interface {
	Process() int
	Signal(syscall.Signal) error
	Close() error
}

// page is a tab of a browser, of whatever make.
type page interface {
	Serve(ctx context.Context, serve driver.Server, patterns ...string) error
	Listen(ctx context.Context, name string, fn func(payload string)) error
	Open(ctx context.Context, url string) error
	Eval(ctx context.Context, expression string, result any) error
	Call(ctx context.Context, function string, result any, arguments ...any) error
	Close(ctx context.Context) error
}

// start starts a browser of a make at an end, and opens a page. A runtime's key is made by WebCrypto, which a browser gives
// only to secure origins: https, or localhost; the node's counts as one.
func (b *browser) start(ctx context.Context, alive context.Context, k kind, at *lan.End) error {
	switch k {
	case chrome:
		program, err := chromium.Find()
		if err != nil {
			return err
		}
		started, err := chromium.Start(at.Command(alive, program), nodeOrigin)
		if err != nil {
			return err
		}
		b.process = started
		b.page, err = started.NewPage(ctx, &b.logged)
		return err
	case fox:
		program, err := firefox.Find()
		if err != nil {
			return err
		}
		started, err := firefox.Start(ctx, at.Dial, at.Command(alive, program), lan.NodeIP)
		if err != nil {
			return err
		}
		b.process = started
		b.page, err = started.NewPage(ctx, &b.logged)
		return err
	}
	return fmt.Errorf("%s is no browser", k)
}

// startBrowser starts a browser, and makes a page of the node's origin an end of these tests: the driver answers for /e2e/,
// the node for the rest. Where hold is given, the module comes only when hold is closed. The browser ends with alive.
func startBrowser(ctx, alive context.Context, k kind, at *lan.End, hold <-chan struct{}, told *news) (*browser, error) {
	b := &browser{}
	err := b.start(ctx, alive, k, at)
	if err == nil {
		err = b.load(ctx, hold, told)
	}
	if err != nil {
		if b.process != nil {
			err = errors.Join(err, b.close())
		}
		return nil, fmt.Errorf("%w\n%s", err, b.log())
	}
	return b, nil
}

func (b *browser) load(ctx context.Context, hold <-chan struct{}, told *news) error {
	patterns := []string{"/e2e/*"}
	if hold != nil {
		patterns = append(patterns, "*.wasm")
	}
	err := b.page.Serve(ctx, func(name string) (driver.Response, bool) {
		if path.Ext(name) == ".wasm" {
			<-hold
			return driver.Response{}, false
		}
		body, err := pages.ReadFile("page/" + path.Base(name))
		return driver.Response{Type: "text/javascript; charset=utf-8", Body: body}, err == nil
	}, patterns...)
	if err != nil {
		return err
	}
	if err := b.page.Listen(ctx, "tell", func(payload string) { told.tell([]byte(payload)) }); err != nil {
		return err
	}
	// The document itself comes from the node: to one that has no address the browser shuts the local network. Any will do
	// that connects nothing by itself.
	if err := b.page.Open(ctx, nodeOrigin+"/hyroute.js"); err != nil {
		return err
	}
	return b.page.Eval(ctx, "import('/e2e/end.js').then(() => true)", nil)
}

func (b *browser) call(ctx context.Context, method string, result any, arguments ...any) error {
	return b.page.Call(ctx, "end."+method, result, arguments...)
}

func (b *browser) close() error { return b.process.Close() }

func (b *browser) log() string { return b.logged.String() }

func (b *browser) group() int { return b.process.Process() }

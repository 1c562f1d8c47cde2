//go:build linux

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
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
	kind    kind
	at      *lan.End
	alive   context.Context // it ends with it
	hold    <-chan struct{} // not nil: the module comes only when this is closed
	told    *news
	profile string

	process process
	openTab func(context.Context) (page, error)
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

// startBrowser starts a browser, and makes a page of the node's origin an end of these tests: the driver answers for /e2e/,
// the node for the rest. Where hold is given, the module comes only when hold is closed. The browser ends with alive.
func startBrowser(ctx, alive context.Context, k kind, at *lan.End, hold <-chan struct{}, told *news) (*browser, error) {
	profile, err := os.MkdirTemp("", "profile-")
	if err != nil {
		return nil, err
	}
	b := &browser{kind: k, at: at, alive: alive, hold: hold, told: told, profile: profile}
	if err := b.start(ctx); err != nil {
		return nil, fmt.Errorf("%w\n%s", errors.Join(err, b.close()), b.log())
	}
	return b, nil
}

// start starts the program with its profile, and opens a page. A runtime's key is made by WebCrypto, which a browser gives
// only to secure origins: https, or localhost; the node's counts as one.
func (b *browser) start(ctx context.Context) error {
	switch b.kind {
	case chrome:
		program, err := chromium.Find()
		if err != nil {
			return err
		}
		started, err := chromium.StartIn(b.profile, b.at.Command(b.alive, program), nodeOrigin)
		if err != nil {
			return err
		}
		b.process = started
		b.openTab = func(ctx context.Context) (page, error) { return started.NewTab(ctx, &b.logged) }
	case fox:
		program, err := firefox.Find()
		if err != nil {
			return err
		}
		started, err := firefox.StartIn(ctx, b.at.Dial, b.profile, b.at.Command(b.alive, program), lan.NodeIP)
		if err != nil {
			return err
		}
		b.process = started
		b.openTab = func(ctx context.Context) (page, error) { return started.NewPage(ctx, &b.logged) }
	default:
		return fmt.Errorf("%s is no browser", b.kind)
	}
	return b.open(ctx)
}

// open opens a page and makes it an end.
func (b *browser) open(ctx context.Context) (err error) {
	if b.page, err = b.openTab(ctx); err != nil {
		return err
	}
	files, err := pages.ReadDir("page")
	if err != nil {
		return err
	}
	var names []string
	for _, file := range files {
		names = append(names, "/e2e/"+file.Name())
	}
	if b.hold != nil {
		names = append(names, "/hyroute.wasm")
	}
	err = b.page.Serve(ctx, func(name string) (driver.Response, bool) {
		if path.Ext(name) == ".wasm" {
			<-b.hold
			return driver.Response{}, false
		}
		body, err := pages.ReadFile("page/" + path.Base(name))
		return driver.Response{Type: "text/javascript; charset=utf-8", Body: body}, err == nil
	}, names...)
	if err != nil {
		return err
	}
	if err := b.page.Listen(ctx, "tell", func(payload string) { b.told.tell([]byte(payload)) }); err != nil {
		return err
	}
	return b.load(ctx)
}

// load loads the document of an end, in the page that is there.
func (b *browser) load(ctx context.Context) error {
	// It comes from the node: to a document that has no address the browser shuts the local network. Any will do that
	// connects nothing by itself.
	if err := b.page.Open(ctx, nodeOrigin+"/hyroute.js"); err != nil {
		return err
	}
	return b.page.Eval(ctx, "import('/e2e/end.js').then(() => true)", nil)
}

func (b *browser) call(ctx context.Context, method string, result any, arguments ...any) error {
	return b.page.Call(ctx, "end."+method, result, arguments...)
}

func (b *browser) close() (err error) {
	if b.process != nil {
		err = b.process.Close()
	}
	return errors.Join(err, driver.Remove(b.profile))
}

func (b *browser) log() string { return b.logged.String() }

func (b *browser) group() int { return b.process.Process() }

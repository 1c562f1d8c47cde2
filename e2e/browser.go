//go:build linux

package main

import (
	"context"
	"embed"
	"errors"
	"os/exec"
	"path"

	"github.com/hyroute/hyroute/e2e/chromium"
)

//go:embed page
var pages embed.FS

// browser is a peer that is a page, in a Chromium of its own.
type browser struct {
	chromium *chromium.Browser
	page     *chromium.Page
	logged   tail
}

// startBrowser starts a Chromium by the command, and makes a page of the node's origin an end of these
// tests: the driver answers for /e2e/, the node for the rest. Where hold is given, the module comes only when hold is closed.
func startBrowser(ctx context.Context, command *exec.Cmd, origin string, hold <-chan struct{}, told *news) (*browser, error) {
	b := &browser{}
	var err error
	// A runtime's key is made by WebCrypto, which a browser gives only to secure origins: https, or localhost.
	if b.chromium, err = chromium.Start(command, origin); err != nil {
		return nil, err
	}
	if err := b.open(ctx, origin, hold, told); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *browser) open(ctx context.Context, origin string, hold <-chan struct{}, told *news) error {
	page, err := b.chromium.NewPage(ctx, &b.logged)
	if err != nil {
		return err
	}
	b.page = page
	patterns := []string{"/e2e/*"}
	if hold != nil {
		patterns = append(patterns, "*.wasm")
	}
	err = page.Serve(ctx, func(name string) (chromium.Response, bool) {
		if path.Ext(name) == ".wasm" {
			<-hold
			return chromium.Response{}, false
		}
		body, err := pages.ReadFile("page/" + path.Base(name))
		return chromium.Response{Type: "text/javascript; charset=utf-8", Body: body}, err == nil
	}, patterns...)
	if err != nil {
		return err
	}
	if err := page.Listen(ctx, "tell", func(payload string) { told.tell([]byte(payload)) }); err != nil {
		return err
	}
	// The document itself comes from the node: to one that has no address the browser shuts the local network. Any will do
	// that connects nothing by itself.
	if err := page.Open(ctx, origin+"/hyroute.js"); err != nil {
		return err
	}
	return page.Eval(ctx, "import('/e2e/end.js').then(() => true)", nil)
}

func (b *browser) call(ctx context.Context, method string, result any, arguments ...any) error {
	return b.page.Call(ctx, "end."+method, result, arguments...)
}

func (b *browser) close() error { return b.chromium.Close() }

func (b *browser) log() string { return b.logged.String() }

//go:build linux

package main

import (
	"context"
	"embed"
	"errors"
	"path"

	"github.com/hyroute/hyroute/e2e/chromium"
	"github.com/hyroute/hyroute/e2e/lan"
)

//go:embed page
var pages embed.FS

// browser is a peer that is a page, in a Chromium of its own.
type browser struct {
	chromium *chromium.Browser
	page     *chromium.Page
	logged   tail
}

// startBrowser opens the page of these tests on the node's origin: the driver answers for /e2e/, the node for the rest.
// Where hold is given, the module comes only when hold is closed.
func startBrowser(ctx context.Context, at *lan.End, origin string, hold <-chan struct{}, told *news) (*browser, error) {
	program, err := chromium.Find()
	if err != nil {
		return nil, err
	}
	b := &browser{}
	// A runtime's key is made by WebCrypto, which a browser gives only to secure origins: https, or localhost.
	if b.chromium, err = chromium.Start(at.Command(ctx, program), origin); err != nil {
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
		types := map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
		return chromium.Response{Type: types[path.Ext(name)], Body: body}, err == nil
	}, patterns...)
	if err != nil {
		return err
	}
	if err := page.Listen(ctx, "tell", func(payload string) { told.tell([]byte(payload)) }); err != nil {
		return err
	}
	return page.Open(ctx, origin+"/e2e/end.html")
}

func (b *browser) call(ctx context.Context, method string, result any, arguments ...any) error {
	return b.page.Call(ctx, "end."+method, result, arguments...)
}

func (b *browser) close() error { return b.chromium.Close() }

func (b *browser) log() string { return b.logged.String() }

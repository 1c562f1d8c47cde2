//go:build linux

package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

//go:embed page
var pages embed.FS

// site serves the pages, hyroute as it is built, and the libraries as they are bundled. Its pages are isolated from other origins, which gives
// them a clock with steps of 5 us instead of 100.
type site struct {
	settings settings
	server   http.Server
	address  string

	lock  sync.Mutex
	heard map[string]func(body []byte)
}

func newSite(s settings) (*site, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &site{settings: s, address: listener.Addr().String(), heard: map[string]func([]byte){}}
	w.server.Handler = w
	go w.server.Serve(listener)
	return w, nil
}

func (w *site) url(path string) string { return "http://" + w.address + path }

// coldURL is a page that is a subject's bundle and nothing else. It asks for the module at once, as hyroute's own page does.
func (w *site) coldURL(script string, options map[string]any) string {
	text, err := json.Marshal(options)
	if err != nil {
		text = []byte(err.Error()) // the page says that it can not read this
	}
	return w.url("/cold/" + script + "#" + url.PathEscape(string(text)))
}

func (w *site) serveCold(out http.ResponseWriter, script string) {
	preload := ""
	if script == "hyroute" {
		preload = `<link rel="preload" href="/bench/cold/hyroute.wasm" as="fetch" type="application/wasm" crossorigin>`
	}
	fmt.Fprintf(out, "<!doctype html><meta charset=utf-8><title>cold</title><link rel=icon href=data:,>%s<script type=module src=/bench/cold/%s.js></script>", preload, script)
}

func (w *site) close() error { return w.server.Close() }

var types = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".wasm": "application/wasm"}

// hear has fn called with what is posted to /receipts/ under a name.
func (w *site) hear(name string, fn func(body []byte)) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.heard[name] = fn
}

func (w *site) takePost(request *http.Request, name string) {
	body, err := io.ReadAll(request.Body)
	w.lock.Lock()
	fn := w.heard[name]
	w.lock.Unlock()
	if err == nil && fn != nil {
		fn(body)
	}
}

func (w *site) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	name := path.Clean(request.URL.Path)
	if posted, ok := strings.CutPrefix(name, "/receipts/"); ok && request.Method == http.MethodPost {
		w.takePost(request, posted)
		return
	}
	h := out.Header()
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Cache-Control", "max-age=3600")
	if script, ok := strings.CutPrefix(name, "/cold/"); ok {
		h.Set("Content-Type", types[".html"])
		w.serveCold(out, script)
		return
	}
	h.Set("Content-Type", types[path.Ext(name)])
	read := func(suffix string) ([]byte, error) { return w.read(name + suffix) }
	if strings.Contains(request.Header.Get("Accept-Encoding"), "br") {
		if body, err := read(".br"); err == nil {
			h.Set("Content-Encoding", "br")
			out.Write(body)
			return
		}
	}
	body, err := read("")
	if err != nil {
		http.NotFound(out, request)
		return
	}
	out.Write(body)
}

// read finds a file: /bench/ is the bench's own, as it was bundled or as it was written; all else is the web package.
func (w *site) read(name string) ([]byte, error) {
	own, ok := strings.CutPrefix(name, "/bench/")
	if !ok {
		return os.ReadFile(filepath.Join(w.settings.web, name))
	}
	if body, err := os.ReadFile(filepath.Join(w.settings.folder, "dist", own)); err == nil {
		return body, nil
	}
	return pages.ReadFile(path.Join("page", own))
}

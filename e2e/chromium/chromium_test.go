package chromium_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/e2e/chromium"
	"github.com/hyroute/hyroute/e2e/driver/drivertest"
)

func newPage(t *testing.T) *chromium.Page {
	t.Helper()
	path, err := chromium.Find()
	if err != nil {
		t.Skip(err)
	}
	browser, err := chromium.Start(exec.CommandContext(t.Context(), path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := browser.Close(); err != nil {
			t.Error(err)
		}
	})
	page, err := browser.NewPage(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestPage(t *testing.T) { drivertest.TestPage(t, newPage(t)) }

// What the case of the hidden tab rests on: the tab is hidden for the page, and its timers are as slow as a user's.
func TestHiddenPageIsThrottled(t *testing.T) {
	page := newPage(t)
	if err := page.Open(t.Context(), "data:text/html,<title>x</title>"); err != nil {
		t.Fatal(err)
	}
	const ticks = `new Promise(done => { const from = performance.now(); let n = 0
		const timer = setInterval(() => { if (++n < 3) return; clearInterval(timer); done(performance.now() - from) }, 50) })`
	measure := func() (state string, ms float64) {
		t.Helper()
		var seen json.RawMessage
		if err := page.Eval(t.Context(), "document.visibilityState", &state); err != nil {
			t.Fatal(err)
		}
		if err := page.Eval(t.Context(), ticks, &seen); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(seen, &ms); err != nil {
			t.Fatal(err)
		}
		return state, ms
	}
	changed := func(act func() error) {
		t.Helper()
		done := make(chan struct{}, 1)
		if err := page.Listen(t.Context(), "changed", func(string) { done <- struct{}{} }); err != nil {
			t.Fatal(err)
		}
		if err := page.Eval(t.Context(), "document.onvisibilitychange = () => changed('')", nil); err != nil {
			t.Fatal(err)
		}
		if err := act(); err != nil {
			t.Fatal(err)
		}
		<-done
	}
	if state, ms := measure(); state != "visible" || ms > 1000 {
		t.Errorf("at first: %s, three ticks of 50 ms in %.0f ms", state, ms)
	}
	changed(func() error { return page.Hide(t.Context()) })
	// Ticks of a hidden page come at whole seconds of the browser's clock: the first two may be close, the third never is.
	if state, ms := measure(); state != "hidden" || ms < 1000 {
		t.Errorf("hidden: %s, three ticks of 50 ms in %.0f ms", state, ms)
	}
	changed(func() error { return page.Show(t.Context()) })
	if state, ms := measure(); state != "visible" || ms > 1000 {
		t.Errorf("shown again: %s, three ticks of 50 ms in %.0f ms", state, ms)
	}
}

func TestCrash(t *testing.T) {
	page := newPage(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<title>x</title>"))
	}))
	defer server.Close()
	if err := page.Open(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	if err := page.Eval(t.Context(), "localStorage.kept = 'kept'; window.lost = 'lost'", nil); err != nil {
		t.Fatal(err)
	}
	if err := page.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := page.Open(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	var seen []any
	if err := page.Eval(t.Context(), "[localStorage.kept, window.lost ?? null]", &seen); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0] != "kept" || seen[1] != nil {
		t.Errorf("after the crash: %v", seen)
	}
}

func TestTraffic(t *testing.T) {
	page := newPage(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			w.Header().Set("Content-Type", "text/html")
			// With an icon of its own: else the browser asks for one, sooner or later.
			w.Write([]byte(`<link rel="icon" href="data:,">` + strings.Repeat(" ", 5000)))
			return
		}
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			kind, frame, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, frame) != nil {
				return
			}
		}
	}))
	defer server.Close()
	traffic, err := page.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := page.Open(t.Context(), server.URL); err != nil {
		t.Fatal(err)
	}
	const talk = `new Promise(done => { const s = new WebSocket(location.href.replace('http', 'ws')); let n = 0
		s.onopen = () => { s.send(new Uint8Array(1000)); s.send('abcde') }; s.onmessage = () => ++n === 2 && done(true) })`
	if err := page.Eval(t.Context(), talk, nil); err != nil {
		t.Fatal(err)
	}
	if got := traffic(); got.Requests != 1 || got.HTTP < 5000 || got.HTTP > 6000 || got.Sockets != 1 || got.Frames != 2010 {
		t.Errorf("%+v", got)
	}
	slow := func() float64 {
		var ms float64
		if err := page.Eval(t.Context(), "(async () => { const from = performance.now(); await (await fetch('/x')).arrayBuffer(); return performance.now() - from })()", &ms); err != nil {
			t.Fatal(err)
		}
		return ms
	}
	if err := page.Throttle(t.Context(), 400, 1e6); err != nil {
		t.Fatal(err)
	}
	if ms := slow(); ms < 400 {
		t.Errorf("with 400 ms of latency a request took %.0f ms", ms)
	}
}

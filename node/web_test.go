package node

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/coder/websocket"
)

func page() fstest.MapFS {
	return fstest.MapFS{
		"index.html":        {Data: []byte("<!doctype html><title>page</title>")},
		"hyroute.wasm":      {Data: []byte("\x00asm plain")},
		"hyroute.wasm.br":   {Data: []byte("brotli")},
		"hyroute.wasm.gz":   {Data: []byte("gzip")},
		"app.js":            {Data: []byte("export {}")},
		"app.js.gz":         {Data: []byte("gzip js")},
		"docs/index.html":   {Data: []byte("docs")},
		"empty/x.txt":       {Data: []byte("x")},
		".secret.json":      {Data: []byte("secret")},
		".git/config.json":  {Data: []byte("secret")},
		"no-extension":      {Data: []byte("secret")},
		"key.pem":           {Data: []byte("secret")},
		"folder.html/a.txt": {Data: []byte("a folder with an extension")},
	}
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWeb(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Web = page() })
	for _, test := range []struct {
		path, accept, body, kind, coding string
	}{
		{"/", "", "<!doctype html><title>page</title>", "text/html; charset=utf-8", ""},
		{"/index.html", "br, gzip", "<!doctype html><title>page</title>", "text/html; charset=utf-8", ""},
		{"/?to=hyperty://a.example/x", "", "<!doctype html><title>page</title>", "text/html; charset=utf-8", ""},
		{"/docs/", "", "docs", "text/html; charset=utf-8", ""},
		{"/hyroute.wasm", "", "\x00asm plain", "application/wasm", ""},
		{"/hyroute.wasm", "gzip, deflate, br, zstd", "brotli", "application/wasm", "br"},
		{"/hyroute.wasm", "gzip, deflate", "gzip", "application/wasm", "gzip"},
		{"/hyroute.wasm", "br;q=0, gzip;q=0.000", "\x00asm plain", "application/wasm", ""},
		{"/hyroute.wasm", "br; q=0.5", "brotli", "application/wasm", "br"},
		{"/hyroute.wasm", "bro, xbr", "\x00asm plain", "application/wasm", ""},
		{"/app.js", "br, gzip", "gzip js", "text/javascript; charset=utf-8", "gzip"},
	} {
		r := w.get(test.path, "Accept-Encoding", test.accept)
		h := r.Header
		if got := body(t, r); r.StatusCode != 200 || got != test.body || h.Get("Content-Type") != test.kind || h.Get("Content-Encoding") != test.coding {
			t.Errorf("%s (%s): %d %q %v", test.path, test.accept, r.StatusCode, got, h)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") != DefaultPolicy || h.Get("Cache-Control") != "no-cache" || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: headers %v", test.path, h)
		}
		etag := h.Get("ETag")
		if r := w.get(test.path, "Accept-Encoding", test.accept, "If-None-Match", etag); etag == "" || r.StatusCode != 304 || body(t, r) != "" {
			t.Errorf("%s again with %s: %d", test.path, etag, r.StatusCode)
		}
	}
	if a, b := w.get("/hyroute.wasm").Header.Get("ETag"), w.get("/hyroute.wasm", "Accept-Encoding", "br").Header.Get("ETag"); a == b {
		t.Errorf("both forms have ETag %s", a)
	}
	for _, path := range []string{
		"/nothing.html", "/empty/", "/empty", "/.secret.json", "/.git/config.json", "/no-extension", "/key.pem", "/folder.html",
		"/../node/web.go", "/%2e%2e/go.mod.txt", "/x%00.html", "/hyroute.wasm.br", "/hyroute.wasm/",
	} {
		if r := w.get(path); r.StatusCode != 404 || strings.Contains(body(t, r), "secret") || r.Header.Get("ETag") != "" {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	r, err := http.Post(w.server.URL+"/", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", r.StatusCode, r.Header)
	}
	head, err := http.Head(w.server.URL + "/index.html")
	if err != nil {
		t.Fatal(err)
	}
	head.Body.Close()
	if head.StatusCode != 200 || head.ContentLength != 34 {
		t.Errorf("HEAD: %d %d", head.StatusCode, head.ContentLength)
	}
}

// A file that changes, as it does while a page is being written, gets another ETag.
func TestWebFromAFolder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "index.html")
	write := func(text string, at time.Time) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("one", time.Unix(1, 0))
	w := newWorld(t, func(c *Config) { c.Web = os.DirFS(dir) })
	first := w.get("/")
	write("two", time.Unix(2, 0))
	second := w.get("/", "If-None-Match", first.Header.Get("ETag"))
	if got := body(t, second); second.StatusCode != 200 || got != "two" {
		t.Errorf("%d %q", second.StatusCode, got)
	}
	if r := w.get("/", "Range", "bytes=1-1"); r.StatusCode != 206 || body(t, r) != "w" {
		t.Errorf("range: %d", r.StatusCode)
	}
}

// unseekable hides that a file can seek, as some file systems' can not.
type unseekable struct{ fs.FS }

type plainFile struct{ fs.File }

func (u unseekable) Open(name string) (fs.File, error) {
	f, err := u.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return plainFile{f}, nil
}

func TestWebThatCanNotSeek(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Web = unseekable{page()} })
	if r := w.get("/hyroute.wasm", "Accept-Encoding", ""); r.StatusCode != 200 || body(t, r) != "\x00asm plain" {
		t.Errorf("%d", r.StatusCode)
	}
}

func TestNoPage(t *testing.T) {
	w := newWorld(t, nil)
	for _, path := range []string{"/", "/index.html", "/.well-known/other", "/.well-known/protocolstub/other.json"} {
		if r := w.get(path); r.StatusCode != 404 {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

func TestCatalogue(t *testing.T) {
	const path = "/.well-known/protocolstub/default.json"
	w := newWorld(t, nil)
	r := w.get(path)
	want := `{"name":"default","constraints":{"browser":true},"configuration":{"url":"` + w.url() + `","domain":"a.example","iceServers":[{"urls":["stun:stun.a.example"]}]}}`
	if got := body(t, r); got != want || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("got  %s %v\nwant %s", got, r.Header, want)
	}
	post, err := http.Post(w.server.URL+path, "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	post.Body.Close()
	if post.StatusCode != 405 {
		t.Errorf("POST: %d", post.StatusCode)
	}
	for _, test := range []struct {
		url    string
		secure bool
		want   string
	}{
		{"", true, "wss://host.example:1/ws"},
		{"wss://a.example/ws", false, "wss://a.example/ws"},
	} {
		n := newWorld(t, func(c *Config) { c.URL, c.ICEServers = test.url, nil }).node
		request := httptest.NewRequest(http.MethodGet, "http://host.example:1"+path, nil)
		if test.secure {
			request.TLS = &tls.ConnectionState{}
		}
		recorder := httptest.NewRecorder()
		n.ServeHTTP(recorder, request)
		var d stubDescriptor
		if err := json.Unmarshal(recorder.Body.Bytes(), &d); err != nil || d.Configuration.URL != test.want || string(d.Configuration.ICEServers) != "[]" {
			t.Errorf("got %s, %v", recorder.Body, err)
		}
	}
}

func TestOrigins(t *testing.T) {
	for _, test := range []struct {
		origins []string
		origin  string
		ok      bool
	}{
		{nil, "https://evil.example", true},
		{[]string{"*.good.example"}, "https://www.good.example", true},
		{[]string{"*.good.example"}, "https://evil.example", false},
		{[]string{"*.good.example"}, "", true},
	} {
		w := newWorld(t, func(c *Config) { c.Origins = test.origins })
		header := http.Header{}
		if test.origin != "" {
			header.Set("Origin", test.origin)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		conn, _, err := websocket.Dial(ctx, w.url(), &websocket.DialOptions{HTTPHeader: header})
		if err == nil {
			conn.CloseNow()
		}
		cancel()
		if (err == nil) != test.ok {
			t.Errorf("%v lets %q: %v", test.origins, test.origin, err)
		}
	}
}

func TestSocketRefusesPlainRequests(t *testing.T) {
	w := newWorld(t, nil)
	if r := w.get("/ws"); r.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a plain GET gets %d", r.StatusCode)
	}
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/ws", nil)
	for key, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="} {
		request.Header.Set(key, value)
	}
	w.node.ServeHTTP(recorder, request)
	if recorder.Code < 400 && recorder.Code != http.StatusSwitchingProtocols {
		t.Errorf("a connection that can not be hijacked gets %d", recorder.Code)
	}
}

func TestConfig(t *testing.T) {
	for _, bad := range []Config{
		{},
		{Domain: "a b"},
		{Domain: "a/b"},
		{Domain: "registry.a"},
		{Domain: "u@a.example"},
		{Domain: "a", Limits: Limits{Frame: -1}},
		{Domain: "a", Limits: Limits{Message: 10}},
		{Domain: "a", Limits: Limits{PingEvery: -1}},
	} {
		if n, err := New(bad); err == nil || n != nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	n, err := New(Config{Domain: "Localhost:8080"})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if n.config.Domain != "localhost:8080" || n.config.Clock.Now().IsZero() {
		t.Errorf("config is %+v", n.config)
	}
}

// A real gzip file comes out of a real client as what it was.
func TestWebGzip(t *testing.T) {
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	g.Write([]byte("export default 1"))
	g.Close()
	w := newWorld(t, func(c *Config) {
		c.Web = fstest.MapFS{"a.js": {Data: []byte("plain")}, "a.js.gz": {Data: packed.Bytes()}}
	})
	r, err := http.Get(w.server.URL + "/a.js")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got := body(t, r); got != "export default 1" {
		t.Errorf("got %q", got)
	}
}

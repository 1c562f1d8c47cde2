package node

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// DefaultPolicy is the Content-Security-Policy of the page: its own scripts and WebAssembly, and sockets to any node.
const DefaultPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self' ws: wss: http: https:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// The types that a page is made of. The system's table differs from machine to machine.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".json": "application/json", ".map": "application/json", ".wasm": "application/wasm",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".txt": "text/plain; charset=utf-8",
	".md": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}

// compressed are the forms in which a file may lie beside itself, the best first.
var compressed = []struct{ coding, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// web serves files, and only files: no listings, no hidden ones. The whole is checked again by its ETag on each visit, so that page
// and module always fit together.
type web struct {
	files  fs.FS
	policy string

	mu    sync.Mutex
	marks map[string]mark
}

// A mark is the ETag of a file as it was at a time and of a size.
type mark struct {
	etag string
	at   time.Time
	size int64
}

func newWeb(files fs.FS, policy string) *web {
	return &web{files: files, policy: policy, marks: map[string]mark{}}
}

// ServeHTTP implements http.Handler.
func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" || strings.HasSuffix(r.URL.Path, "/") {
		name = path.Join(name, "index.html")
	}
	kind := contentTypes[strings.ToLower(path.Ext(name))]
	if s.files == nil || kind == "" || !fs.ValidPath(name) || hidden(name) {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Content-Security-Policy", s.policy)
	h.Set("Vary", "Accept-Encoding")
	for _, form := range compressed {
		if accepts(r.Header.Get("Accept-Encoding"), form.coding) && s.serve(w, r, name+form.suffix, kind, form.coding) {
			return
		}
	}
	if !s.serve(w, r, name, kind, "") {
		clear(h)
		http.NotFound(w, r)
	}
}

// serve sends a file, and says whether there is one.
func (s *web) serve(w http.ResponseWriter, r *http.Request, name, kind, coding string) bool {
	f, err := s.files.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil || !stat.Mode().IsRegular() {
		return false
	}
	content, ok := f.(io.ReadSeeker)
	if !ok {
		b, err := io.ReadAll(f)
		if err != nil {
			return false
		}
		content = bytes.NewReader(b)
	}
	etag, err := s.etag(name, stat, content)
	if err != nil {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", etag)
	if coding != "" {
		h.Set("Content-Encoding", coding)
	}
	http.ServeContent(w, r, "", time.Time{}, content)
	return true
}

// etag is the file's hash. It is computed once for each state of the file.
func (s *web) etag(name string, stat fs.FileInfo, content io.ReadSeeker) (string, error) {
	s.mu.Lock()
	m, ok := s.marks[name]
	s.mu.Unlock()
	if ok && m.at.Equal(stat.ModTime()) && m.size == stat.Size() {
		return m.etag, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return "", err
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	m = mark{etag: `"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`, at: stat.ModTime(), size: stat.Size()}
	s.mu.Lock()
	s.marks[name] = m
	s.mu.Unlock()
	return m.etag, nil
}

// readOnly refuses all but GET and HEAD.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	return false
}

func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

// accepts says whether an Accept-Encoding takes a coding (RFC 9110 section 12.5.3).
func accepts(header, coding string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		weight := strings.ReplaceAll(parameters, " ", "")
		return !strings.HasPrefix(weight, "q=0") || strings.Trim(strings.TrimPrefix(weight, "q=0"), ".0") != ""
	}
	return false
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// limit is how long a test waits for what must happen.
const limit = 30 * time.Second

// running is a command that was started.
type running struct {
	lines  chan string // of its standard output
	errors *safe
	stop   context.CancelFunc
	code   chan int
}

// askToPrintStats has this process asked what it counted; nil where that can not be done.
var askToPrintStats func(t *testing.T)

// safe is a buffer for two goroutines.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	in, out := io.Pipe()
	r := &running{lines: make(chan string, 10000), errors: &safe{}, stop: cancel, code: make(chan int, 1)}
	go func() {
		defer close(r.lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			r.lines <- s.Text()
		}
	}()
	go func() {
		code := run(ctx, args, strings.NewReader(""), out, r.errors)
		out.Close()
		r.code <- code
		close(r.code)
	}()
	t.Cleanup(func() {
		cancel()
		<-r.code
	})
	return r
}

// line gives the next line that holds what is wanted.
func (r *running) line(t *testing.T, wanted string) string {
	t.Helper()
	for l := range r.lines {
		if strings.Contains(l, wanted) {
			return l
		}
	}
	t.Fatalf("it ended without %q: %s", wanted, r.errors)
	return ""
}

// once runs a command to its end.
func once(in string, args ...string) (code int, out, problems string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var o, p safe
	code = run(ctx, args, strings.NewReader(in), &o, &p)
	return code, o.String(), p.String()
}

// serve starts a node, and gives what follows --node.
func serve(t *testing.T, args ...string) (node, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	if len(args) == 0 {
		args = []string{"--no-web"}
	}
	r := start(t, append([]string{"serve", "--listen", address}, args...)...)
	r.line(t, "Message Node of localhost")
	return "ws://" + address + "/ws", address
}

func TestListenAndSend(t *testing.T) {
	node, _ := serve(t)
	l := start(t, "listen", "--node", node, "--name", "alice", "--loopback")
	if got := l.line(t, "Listening"); got != "Listening at hyperty://localhost/alice" {
		t.Error(got)
	}
	send := func(in string, args ...string) (int, string, string) {
		return once(in, append([]string{"send", "hyperty://localhost/alice", "--node", node, "--loopback", "--timeout", "10s"}, args...)...)
	}
	code, out, problems := send("", "good morning")
	if code != 0 || !strings.HasPrefix(out, "delivered by the relay path in ") {
		t.Errorf("%d %q %q", code, out, problems)
	}
	if got := l.line(t, "good morning"); !strings.Contains(got, "  relay  good morning") {
		t.Error(got)
	}
	code, out, problems = send("from\x1b[31m there\n", "-", "--json", "--from", "bob")
	var o outcome
	if err := json.Unmarshal([]byte(out), &o); code != 0 || err != nil || o.Outcome != "delivered" || o.Path != "relay" || o.Millis <= 0 {
		t.Errorf("%d %q %q %v", code, out, problems, err)
	}
	if got := l.line(t, "there"); !strings.HasSuffix(got, "hyperty://localhost/bob  relay  from\uFFFD[31m there") {
		t.Errorf("%q", got)
	}
	if code, _, problems = send(string([]byte{0, 1, 255}), "--bytes", "-"); code != 0 {
		t.Errorf("%d %q", code, problems)
	}
	l.line(t, "(3 bytes)")
	if askToPrintStats != nil {
		askToPrintStats(t)
		if got := l.line(t, "session-stats"); !strings.Contains(got, "  path relay") || !strings.Contains(got, "  peer runtime://localhost/") {
			t.Error(got)
		}
		if got := l.line(t, "dropped"); got != "stats  dropped 0" {
			t.Error(got)
		}
	}
	if code, out, problems = send("", "x", "--request"); code != 0 || out != "taken\n" {
		t.Errorf("%d %q %q", code, out, problems)
	}
	l.stop()
	if code := <-l.code; code != 0 {
		t.Errorf("listen ended with %d: %s", code, l.errors)
	}
	if code, out, problems = send("", "x", "--timeout", "300ms", "--json"); code != exitFailed || !strings.Contains(out, `"outcome":"failed"`) || problems == "" {
		t.Errorf("to nobody: %d %q %q", code, out, problems)
	}
}

func TestStreamAndEcho(t *testing.T) {
	node, _ := serve(t)
	trace := filepath.Join(t.TempDir(), "trace.txt")
	l := start(t, "listen", "--node", node, "--name", "alice", "--loopback", "--json", "--echo", "--count", "1500", "--trace", trace)
	l.line(t, "listening")
	code, out, problems := once("", "send", "hyperty://localhost/alice", "--node", node, "--loopback", "--count", "1500", "--rate", "500", "--json")
	var s summary
	if err := json.Unmarshal([]byte(out), &s); code != 0 || err != nil || s.Sent != 1500 || s.Delivered != 1500 || s.Failed != 0 || s.Paths["direct"]+s.Paths["relay"] != 1500 {
		t.Errorf("%d %q %q %v", code, out, problems, err)
	}
	t.Logf("%+v", s)
	if s.Paths["direct"] == 0 {
		t.Errorf("nothing went by the direct path: %v", s.Paths)
	}
	next := 1
	for text := range l.lines {
		var line struct {
			Event string
			Value struct{ N int }
			Path  string
			Ms    *float64
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line.Event != "message" {
			continue
		}
		if line.Value.N != next {
			t.Fatalf("number %d instead of %d", line.Value.N, next)
		}
		next++
	}
	if next != 1501 {
		t.Errorf("it ended before number %d", next)
	}
	if code := <-l.code; code != 0 {
		t.Errorf("%d: %s", code, l.errors)
	}
	if text, err := os.ReadFile(trace); err != nil || !bytes.HasPrefix(text, []byte("# ")) || bytes.Count(text, []byte("\nat now=")) < 10 {
		t.Errorf("trace of %d bytes, %v", len(text), err)
	}
}

func TestKeyKeepsTheAddress(t *testing.T) {
	node, _ := serve(t)
	key := filepath.Join(t.TempDir(), "key.pem")
	var addresses []string
	for range 2 {
		l := start(t, "listen", "--node", node, "--key", key)
		addresses = append(addresses, l.line(t, "Listening"))
		l.stop()
		<-l.code
	}
	if addresses[0] != addresses[1] {
		t.Errorf("%q", addresses)
	}
	if stat, err := os.Stat(key); err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", stat, err)
	}
}

func TestServesThePage(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/index.html", []byte("<p>the page"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, address := serve(t, "--web", folder, "--ice", "stun:stun.example:3478", "--ice", "turn:turn.example,u,s")
	get := func(path string) string {
		response, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		b, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := get("/"); got != "<p>the page" {
		t.Errorf("%q", got)
	}
	if got := get("/.well-known/protocolstub/default.json"); !strings.Contains(got, "stun:stun.example:3478") || !strings.Contains(got, `"credential":"s"`) {
		t.Errorf("%q", got)
	}
}

func TestServeBehindAProxyWithTURN(t *testing.T) {
	_, address := serve(t, "--no-web", "--public-url", "wss://chat.example/ws", "--origins", "chat.example", "--turn=127.0.0.1:0")
	response, err := http.Get("http://" + address + "/.well-known/protocolstub/default.json")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var d struct {
		Configuration struct {
			URL        string
			ICEExpires int
			ICEServers []struct {
				URLs                 []string
				Username, Credential string
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&d); err != nil {
		t.Fatal(err)
	}
	c := d.Configuration
	if c.URL != "wss://chat.example/ws" || c.ICEExpires != 86400 || len(c.ICEServers) != 1 {
		t.Fatalf("the catalogue has %+v", c)
	}
	if s := c.ICEServers[0]; !strings.HasPrefix(s.URLs[0], "turn:127.0.0.1:") || !strings.HasSuffix(s.Username, ":catalogue") || s.Credential == "" {
		t.Errorf("the ICE server is %+v", s)
	}
	for origin, want := range map[string]int{"https://chat.example": http.StatusSwitchingProtocols, "https://other.example": http.StatusForbidden} {
		request, err := http.NewRequest(http.MethodGet, "http://"+address+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Origin": origin,
		} {
			request.Header.Set(name, value)
		}
		upgrade, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		upgrade.Body.Close()
		if upgrade.StatusCode != want {
			t.Errorf("a page of %s gets %d", origin, upgrade.StatusCode)
		}
	}
}

func TestMistakes(t *testing.T) {
	node, address := serve(t)
	takenUDP, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer takenUDP.Close()
	taken := start(t, "listen", "--node", node, "--name", "alice")
	taken.line(t, "Listening")
	empty := t.TempDir()
	closed := "ws://" + freePort(t)
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"sing"}, exitUsage, `there is no command "sing"`},
		{[]string{"sen"}, exitUsage, `did you mean "send"?`},
		{[]string{"send"}, exitUsage, "takes an address and a text"},
		{[]string{"send", "hyperty://localhost/alice"}, exitUsage, "what is to be sent?"},
		{[]string{"send", "hyperty://localhost/alice", "x", "--count", "3"}, exitUsage, "what is to be sent?"},
		{[]string{"send", "hyperty://localhost/alice", "x", "--nonsense"}, exitUsage, "unknown flag: --nonsense"},
		{[]string{"send", "hyperty://localhost/alice", "x", "--timeout", "0s"}, exitUsage, "above 0"},
		{[]string{"send", "alice", "x", "--node", node}, exitFailed, "An address looks like"},
		{[]string{"send", "hyperty://localhost/bob", "x", "--node", node, "--timeout", "200ms"}, exitFailed, "nobody has this address"},
		{[]string{"send", "hyperty://localhost/bob", "x", "--node", closed, "--timeout", "200ms", "--domain", "localhost"}, exitFailed, "Start a Message Node"},
		{[]string{"send", "hyperty://localhost/bob", "x", "--node", closed, "--timeout", "200ms"}, exitFailed, "is out of reach"},
		{[]string{"send", "hyperty://localhost/bob", "--bytes", empty + "/none", "--node", node}, exitFailed, "no such file"},
		{[]string{"send", "hyperty://localhost/bob", "x", "--key", empty, "--node", node}, exitFailed, "key"},
		{[]string{"send", "hyperty://localhost/bob", "x", "--node", "ftp://x"}, exitFailed, "ws://"},
		{[]string{"send", "hyperty://localhost/bob", "x", "--node", node, "--domain", "other"}, exitFailed, `is of "localhost", not of "other"`},
		{[]string{"send", "hyperty://localhost/bob", "x", "--node", node, "--module", empty + "/none"}, exitFailed, "the module"},
		{[]string{"listen", "--node", node, "--name", "alice"}, exitFailed, "Choose another --name"},
		{[]string{"listen", "x"}, exitUsage, "takes no arguments"},
		{[]string{"serve", "--listen", address, "--no-web"}, exitFailed, "is in use"},
		{[]string{"serve", "--web", empty}, exitFailed, "make build"},
		{[]string{"serve", "--no-web", "--ice", "x"}, exitUsage, "stun:host:port"},
		{[]string{"serve", "--no-web", "--turn=" + takenUDP.LocalAddr().String()}, exitFailed, "is in use"},
		{[]string{"serve", "--no-web", "--turn", "--turn-ip", "here"}, exitUsage, "203.0.113.7"},
		{[]string{"serve", "--no-web", "--turn", "--turn-ports", "9-1"}, exitUsage, "49152-65535"},
		{[]string{"serve", "--no-web", "--turn-private"}, exitUsage, "say --turn too"},
		{[]string{"serve", "--no-web", "--public-url", "https://chat.example"}, exitUsage, "wss://host/ws"},
		{[]string{"serve", "--no-web", "--origins", "[a"}, exitFailed, "no pattern"},
		{[]string{"serve", "--no-web", "--domain", "a b"}, exitFailed, "domain"},
		{[]string{"serve", "--no-web", "--listen", "nonsense"}, exitFailed, "nonsense"},
	} {
		code, out, problems := once("", test.args...)
		if code != test.code || !strings.Contains(problems, test.says) {
			t.Errorf("%v: %d, wanted %d and %q: %s%s", test.args, code, test.code, test.says, out, problems)
		}
	}
	if code, out, _ := once("", "version"); code != 0 || !strings.HasPrefix(out, "hyroute "+version) {
		t.Errorf("%d %q", code, out)
	}
	if code, out, _ := once(""); code != 0 || !strings.Contains(out, "listen") {
		t.Errorf("%d %q", code, out)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr())
}

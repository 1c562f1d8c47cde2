package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStoreGoesOn: what a run could not deliver is delivered by the next, before what that sends itself, and once.
func TestStoreGoesOn(t *testing.T) {
	node, _ := serve(t)
	dir := t.TempDir()
	listen := func(more ...string) *running {
		return start(t, append([]string{"listen", "--node", node, "--name", "alice", "--relay-only", "--store", filepath.Join(dir, "alice")}, more...)...)
	}
	send := []string{"send", "hyperty://localhost/alice", "--node", node, "--relay-only", "--from", "bob", "--store", filepath.Join(dir, "bob")}
	l := listen()
	first := l.line(t, "Listening")
	if code, out, problems := once("", append(send, "one")...); code != 0 || !strings.HasPrefix(out, "delivered") {
		t.Fatalf("%d %q %q", code, out, problems)
	}
	l.line(t, "one")
	l.stop()
	<-l.code
	// Nobody is there: the message waits, and so does the command, until it is interrupted.
	var out, problems safe
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if code := run(ctx, append(send, "two"), strings.NewReader(""), &out, &problems); code != exitInterrupted {
		t.Errorf("%d %q %q", code, out.String(), problems.String())
	}
	l = listen("--count", "2")
	if got := l.line(t, "Listening"); got != first {
		t.Errorf("%q, before %q", got, first)
	}
	code, text, wrong := once("", append(send, "three")...)
	if code != 0 || !strings.HasPrefix(text, "delivered by") || !strings.Contains(text, "from the run before, to hyperty://localhost/alice: delivered") {
		t.Errorf("%d %q %q", code, text, wrong)
	}
	if got := l.line(t, "hyperty://localhost/bob"); !strings.HasSuffix(got, "  two") {
		t.Errorf("%q", got)
	}
	if got := l.line(t, "hyperty://localhost/bob"); !strings.HasSuffix(got, "  three") {
		t.Errorf("%q", got)
	}
	if code := <-l.code; code != 0 || l.errors.String() != "" {
		t.Errorf("%d: %s", code, l.errors)
	}
}

func TestStoreForOne(t *testing.T) {
	node, _ := serve(t)
	dir := t.TempDir()
	l := start(t, "listen", "--node", node, "--relay-only", "--store", dir)
	l.line(t, "Listening")
	code, _, problems := once("", "listen", "--node", node, "--store", dir)
	if code != exitFailed || !strings.Contains(problems, dir) || !strings.Contains(problems, "another runtime uses it") || !strings.Contains(problems, "One runtime at a time") {
		t.Errorf("%d %q", code, problems)
	}
	if code, _, problems := once("", "listen", "--node", node, "--sync"); code != exitUsage || !strings.Contains(problems, "--store") {
		t.Errorf("%d %q", code, problems)
	}
}

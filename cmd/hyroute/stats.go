package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// fact is one thing to be told of a runtime: a JSON line, or its keys and values as text.
type fact struct {
	key   string
	value any
}

// printStats prints what the runtime counted: a line for each session, each peer connection and each change of path.
func (l *listener) printStats(ctx context.Context) {
	stats, err := l.runtime.Stats(ctx)
	if err != nil {
		return // it is going away
	}
	millis := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	for _, s := range stats.Sessions {
		l.facts("session-stats", fact{"session", s.Session}, fact{"peer", s.Peer}, fact{"lane", s.Lane}, fact{"path", s.Path}, fact{"rtt", millis(s.RTT)},
			fact{"acknowledged", s.Acknowledged}, fact{"resent", s.Resent}, fact{"repeated", s.Repeated},
			fact{"queued", s.Queued}, fact{"unacknowledged", s.Unacknowledged})
	}
	for _, p := range stats.Peers {
		l.facts("peer-stats", fact{"peer", p.Peer}, fact{"local", p.Local}, fact{"remote", p.Remote}, fact{"rtt", millis(p.RTT)},
			fact{"bytesSent", p.BytesSent}, fact{"bytesReceived", p.BytesReceived})
	}
	for _, p := range stats.Paths {
		l.facts("path-taken", fact{"at", p.At.Format(time.RFC3339Nano)}, fact{"session", p.Session}, fact{"peer", p.Peer},
			fact{"from", p.From}, fact{"to", p.To}, fact{"reason", p.Reason})
	}
	l.facts("stats", fact{"dropped", stats.Dropped})
}

func (l *listener) facts(event string, list ...fact) {
	if l.json {
		line := map[string]any{"event": event}
		for _, f := range list {
			line[f.key] = f.value
		}
		l.line(line)
		return
	}
	var b strings.Builder
	b.WriteString(event)
	for _, f := range list {
		if f.value != "" {
			fmt.Fprintf(&b, "  %s %v", f.key, f.value)
		}
	}
	l.printf("%s\n", b.String())
}

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyroute/hyroute/host"
)

type listener struct {
	connection
	json, echo bool
	count      uint64

	runtime *host.Runtime
	clocks  clocks
	print   sync.Mutex
	command *cobra.Command
	seen    uint64
	enough  context.CancelFunc
}

func listenCommand() *cobra.Command {
	l := &listener{}
	c := &cobra.Command{
		Use:   "listen",
		Short: "Listen at an address, and print what comes",
		Long:  "Listen at an address, and print what comes. kill -USR1 makes it print what it counted, and each change of path.",
		Example: "  hyroute listen --name alice\n" +
			"  hyroute listen --json --echo --key alice.pem",
		Args: exactly(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			l.command = c
			return l.run(c.Context())
		},
	}
	l.flags(c, "name")
	c.Flags().BoolVar(&l.json, "json", false, "print JSON lines")
	c.Flags().BoolVar(&l.echo, "echo", false, "send each message back to its sender")
	c.Flags().Uint64Var(&l.count, "count", 0, "end after so many messages (default: never)")
	return c
}

func (l *listener) run(ctx context.Context) error {
	r, closeTrace, err := l.connect(ctx, nil)
	if errors.Is(err, errInterrupted) {
		return nil
	}
	if err != nil {
		return err
	}
	l.runtime = r
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	l.enough = cancel
	var running sync.WaitGroup
	running.Go(l.watch)
	err = errors.Join(l.listen(inner), r.Close(), closeTrace())
	running.Wait()
	return err
}

// listen prints the address once others can find it, and then what comes.
func (l *listener) listen(ctx context.Context) error {
	over := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		<-over
	}()
	go func() {
		defer close(over)
		for m := range l.runtime.Messages(ctx) {
			l.take(ctx, m) // and only then it counts, where there is a store
		}
	}()
	registered := make(chan error, 1)
	go func() { registered <- l.runtime.Registered(ctx) }()
	asked, stop := askedForStats()
	defer stop()
	for {
		select {
		case <-asked:
			l.printStats(ctx)
		case err := <-registered:
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			l.say()
		case <-over:
			return l.over(ctx)
		case <-l.runtime.Done():
			return l.over(ctx)
		}
	}
}

// over says why no messages come any more.
func (l *listener) over(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	return errors.New("this runtime is over: see above")
}

func (l *listener) say() {
	if l.json {
		l.line(map[string]any{"event": "listening", "address": l.runtime.Address(), "runtime": l.runtime.URL()})
		return
	}
	l.printf("Listening at %s\nTo send something: hyroute send %s hello\n", l.runtime.Address(), l.runtime.Address())
}

// take answers, and prints.
func (l *listener) take(ctx context.Context, m *host.Message) {
	t, isTimed := read(m)
	if isTimed && t.Clock != nil {
		// A page asks for the time, to know how long messages are under way.
		if m.WantsReply() {
			m.Reply(map[string]float64{"clock": now()})
		}
		return
	}
	if l.echo {
		m.Reply(m.Value())
	} else if m.WantsReply() {
		m.Reply("taken")
	}
	var delay float64
	known := false
	if isTimed {
		delay, known = l.clocks.delay(ctx, l.runtime, m.From, *t.At)
	}
	if l.json {
		line := map[string]any{"event": "message", "from": m.From, "to": m.To, "path": m.Path, "value": m.Value()}
		if m.IsBytes() {
			delete(line, "value")
			line["bytes"] = base64.StdEncoding.EncodeToString(m.Bytes())
		}
		if known {
			line["ms"] = delay
		}
		l.line(line)
	} else {
		l.printf("%s\n", l.people(m, t, delay, known))
	}
	if l.seen++; l.seen == l.count {
		l.enough()
	}
}

// people is a message as people read it.
func (l *listener) people(m *host.Message, t timed, delay float64, known bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s", time.Now().Format("15:04:05"), m.From, m.Path)
	if known {
		b.WriteString("  " + inMillis(delay))
	}
	b.WriteString("  ")
	switch {
	case m.IsBytes():
		fmt.Fprintf(&b, "(%d bytes)", len(m.Bytes()))
	case t.Text != nil:
		b.WriteString(printable(*t.Text))
	case t.Stream != nil && t.N != nil:
		fmt.Fprintf(&b, "number %d", *t.N)
	default:
		b.WriteString(printable(strings.TrimRight(m.Text(), "\n")))
	}
	return b.String()
}

// printable keeps what others send from moving the cursor or colouring the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || strconv.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}

func inMillis(ms float64) string {
	if ms < 10 {
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
}

// watch tells when messages begin to go another way, and when the node is lost, until the runtime is closed.
func (l *listener) watch() {
	node := nodeWatch{url: l.node, say: l.problem}
	for e := range l.runtime.Events(context.Background()) {
		switch e := e.(type) {
		case host.NodeChanged:
			node.event(e)
		case host.PathChanged:
			if l.json {
				l.line(map[string]any{"event": "path", "peer": e.Peer, "path": e.Path, "reason": e.Reason})
			} else {
				l.printf("%s  the path to %s is now: %s (%s)\n", time.Now().Format("15:04:05"), e.Peer, e.Path, e.Reason)
			}
		case host.PresenceChanged:
			if l.json {
				l.line(map[string]any{"event": "presence", "peer": e.Peer, "status": e.Status, "reason": e.Reason})
			} else {
				l.printf("%s  %s is %s (%s)\n", time.Now().Format("15:04:05"), e.Peer, e.Status, e.Reason)
			}
		case host.Gap:
			l.problem("%s started over: messages of it may be missing", e.Peer)
		case host.Reset:
			l.problem("%s started over: of %d messages to it nobody knows whether they arrived", e.Peer, e.Doubt)
		}
	}
}

func (l *listener) printf(format string, arguments ...any) {
	l.print.Lock()
	defer l.print.Unlock()
	fmt.Fprintf(l.command.OutOrStdout(), format, arguments...)
}

func (l *listener) problem(format string, arguments ...any) {
	l.print.Lock()
	defer l.print.Unlock()
	fmt.Fprintf(l.command.ErrOrStderr(), "hyroute: "+format+"\n", arguments...)
}

func (l *listener) line(value map[string]any) {
	text, err := json.Marshal(value)
	if err != nil {
		l.problem("print: %v", err)
		return
	}
	l.printf("%s\n", text)
}

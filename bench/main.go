//go:build linux

// Command bench measures what moving between paths costs: hyroute by the relay and by a direct path, beside a bare
// WebSocket relay and a bare data channel, in the same two browsers, in the same run.
//
// README.md beside it says what each number is, and what it is not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/hyroute/hyroute/e2e/chromium"
	"github.com/hyroute/hyroute/e2e/lan"
)

const (
	nodeAddress  = lan.NodeIP + ":8080"
	relayAddress = lan.NodeIP + ":8081"
)

// settings are what the command line says.
type settings struct {
	hyroute, web string // paths
	rounds       int
	blast        int // ms
}

func main() {
	var s settings
	flag.StringVar(&s.hyroute, "hyroute", "bin/hyroute", "the command")
	flag.StringVar(&s.web, "web", "web/dist", "the built web package")
	flag.IntVar(&s.rounds, "rounds", 3, "how often each is measured")
	flag.IntVar(&s.blast, "blast", 1500, "how long messages are sent for a rate, in ms")
	flag.Parse()
	if !lan.Inside() {
		code, err := lan.RunInside()
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures every subject round by round, so that a change of the machine's mood meets all of them, and prints the table.
func run(ctx context.Context, s settings) (err error) {
	if err := lan.Settle(); err != nil {
		return err
	}
	network, err := lan.New("a", "b")
	if err != nil {
		return err
	}
	node := exec.CommandContext(ctx, s.hyroute, "serve", "--listen", nodeAddress, "--web", s.web)
	node.Stderr = os.Stderr
	if err := node.Start(); err != nil {
		return fmt.Errorf("start the node: %w", err)
	}
	defer func() { node.Process.Kill(); node.Wait() }()
	relay, err := startRelay(relayAddress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, relay.Close()) }()
	if err := lan.Listening(ctx, nodeAddress); err != nil {
		return err
	}
	program, err := chromium.Find()
	if err != nil {
		return err
	}
	var browsers []*chromium.Browser
	for _, end := range network.Ends() {
		b, err := chromium.Start(end.Command(ctx, program), "http://"+nodeAddress)
		if err != nil {
			return err
		}
		defer b.Close()
		browsers = append(browsers, b)
	}
	t := newTable()
	for round := range s.rounds {
		for _, subject := range subjects {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, s.rounds, subject.name)
			sample, err := measure(ctx, s, browsers, subject, round)
			if err != nil {
				return fmt.Errorf("%s: %w", subject.name, err)
			}
			t.add(subject.name, sample)
		}
	}
	t.print(os.Stdout)
	return nil
}

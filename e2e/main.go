//go:build linux

// Command e2e runs the main job as a user would meet it: real browsers and native peers, each in a network namespace of
// its own, a real Message Node, real data channels, and faults on the real packets between them.
//
// It prints one JSON line a case and pair, and nothing else, on standard output; what it has to say to a person goes to
// standard error. It exits with 1 if any line is not ok. README.md beside it says what the cases are and how they are
// judged.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hyroute/hyroute/e2e/lan"
)

// settings are what the command line says.
type settings struct {
	hyroute, peer, web string // paths
	names              string // of cases, comma between; empty: all
	pairs              string // of pairs, likewise
	short              bool
	logs               string
	trace              bool
	verbose            bool
}

func main() {
	var s settings
	flag.StringVar(&s.hyroute, "hyroute", "bin/hyroute", "the command")
	flag.StringVar(&s.peer, "peer", "bin/peer", "the native peer of these tests")
	flag.StringVar(&s.web, "web", "web/dist", "the built web package")
	flag.StringVar(&s.names, "case", "", "only these cases (comma between)")
	flag.StringVar(&s.pairs, "pair", "", "only these pairs (comma between)")
	flag.BoolVar(&s.short, "short", false, "fewer messages, the same faults; without -case and -pair, only the pairs that say most")
	flag.StringVar(&s.logs, "logs", "", "keep histories and logs in this folder")
	flag.BoolVar(&s.trace, "trace", false, "keep every event and effect of both machines too (with -logs)")
	flag.BoolVar(&s.verbose, "v", false, "say on standard error what happens")
	flag.Parse()
	os.Exit(run(s))
}

func run(s settings) int {
	if !lan.Inside() {
		code, err := lan.RunInside()
		if err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
		}
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ok, err := runInside(ctx, s)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
	}
	if err != nil || !ok {
		return 1
	}
	return 0
}

// runInside runs the cases that were asked for, and says whether all were ok.
func runInside(ctx context.Context, s settings) (bool, error) {
	chosen, err := choose(s)
	if err != nil {
		return false, err
	}
	if err := lan.Settle(); err != nil {
		return false, err
	}
	network, err := lan.New("a", "b")
	if err != nil {
		return false, err
	}
	if s.logs != "" {
		if err := os.MkdirAll(s.logs, 0o777); err != nil {
			return false, err
		}
	}
	all := true
	lines := json.NewEncoder(os.Stdout)
	for _, c := range chosen {
		for _, p := range c.played(s) {
			if s.pairs != "" && !slices.Contains(strings.Split(s.pairs, ","), p.String()) {
				continue
			}
			l, err := runPair(ctx, s, network, c, p)
			if ctx.Err() != nil {
				return false, errors.New("interrupted")
			}
			if err != nil {
				fmt.Fprintf(os.Stderr, "e2e: %s %s: %v\n", c.name, p, err)
			}
			all = all && l.OK
			if err := lines.Encode(l); err != nil {
				return false, err
			}
		}
	}
	return all, nil
}

func choose(s settings) ([]testCase, error) {
	if s.names == "" {
		return cases, nil
	}
	var chosen []testCase
	for _, name := range strings.Split(s.names, ",") {
		i := slices.IndexFunc(cases, func(c testCase) bool { return c.name == name })
		if i < 0 {
			var known []string
			for _, c := range cases {
				known = append(known, c.name)
			}
			return nil, fmt.Errorf("no case %q: there are %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, cases[i])
	}
	return chosen, nil
}

// runPair runs a case with a pair, and judges it. The error says why the line is not ok.
func runPair(ctx context.Context, s settings, network *lan.LAN, c testCase, p pair) (line, error) {
	l := line{Case: c.name, Pair: p.String()}
	st, err := newStage(ctx, s, network, p)
	if err != nil {
		return l, err
	}
	err = c.run(ctx, st)
	records, gathered := st.gather()
	l.Again = st.again()
	err = errors.Join(err, gathered, st.judge(&l, records))
	l.Seen, l.Path, l.Load = st.seen, st.pathLog(), load()
	if s.logs != "" {
		err = errors.Join(err, st.keep(filepath.Join(s.logs, c.name+"-"+p.String()), records))
	}
	err = errors.Join(err, st.close())
	l.OK = err == nil
	if !l.OK || s.verbose {
		st.tell(os.Stderr)
	}
	return l, err
}

//go:build linux

// Command bench measures hyroute beside what a user would pick instead, in one run: bare channels, and the libraries that
// build on them. Most subjects are two pages of one Chromium; two are native processes.
//
// README.md beside it says what each number is, and what it is not.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hyroute/hyroute/e2e/chromium"
	"github.com/hyroute/hyroute/e2e/lan"
)

// settings are what the command line says.
type settings struct {
	hyroute, web, folder string // paths: the command, the built web package, and the bench's own folder
	subjects, parts      string // lists
	rounds               int
	warm, blast          time.Duration
	trips                int
	out                  string
}

func main() {
	var s settings
	var set, native, server, report string
	var port int
	flag.StringVar(&s.hyroute, "hyroute", "bin/hyroute", "the command")
	flag.StringVar(&s.web, "web", "web/dist", "the built web package")
	flag.StringVar(&s.folder, "folder", "bench", "the folder of the bench: libraries, their servers and the results")
	flag.StringVar(&set, "set", "", "p2p: all parts of all subjects, 7 rounds. Otherwise rtt and speed of paths, 3 rounds")
	flag.StringVar(&s.subjects, "subjects", "", "who is measured: names with commas between, or one of "+strings.Join(groupNames(), ", "))
	flag.StringVar(&s.parts, "parts", "", "what is measured: all, or of "+strings.Join(partNames(), ", "))
	flag.IntVar(&s.rounds, "rounds", 0, "how often each is measured")
	flag.DurationVar(&s.warm, "warm", 3*time.Second, "how long messages are sent before, until engines have compiled what is hot")
	flag.DurationVar(&s.blast, "blast", 1300*time.Millisecond, "how long messages are sent for a rate")
	flag.IntVar(&s.trips, "trips", 20_000, "round trips in a row, timed as one")
	flag.StringVar(&s.out, "out", "", "the file that results are appended to, a line each (default: one in the folder's results/)")
	flag.StringVar(&report, "report", "", "measure nothing: print the tables of such a file")
	flag.StringVar(&native, "native", "", "for the bench's own use: be a native end of this subject")
	flag.StringVar(&server, "server", "", "for the bench's own use: be this server")
	flag.IntVar(&port, "port", 0, "for the bench's own use: where the server listens")
	flag.Parse()
	s.fill(set)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case set != "" && set != "p2p":
		err = fmt.Errorf("there is no set %q: there is p2p", set)
	case server != "":
		err = serve(ctx, server, port)
	case native != "":
		err = beNative(ctx, native, os.Stdin, os.Stdout)
	case report != "":
		err = printFile(os.Stdout, report)
	case !lan.Inside():
		var code int
		if code, err = lan.RunInside(); err == nil {
			os.Exit(code)
		}
	default:
		err = run(ctx, s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// fill sets what was not said.
func (s *settings) fill(set string) {
	said := settings{subjects: "paths", parts: "rtt,speed", rounds: 3}
	if set == "p2p" {
		said = settings{subjects: "all", parts: "all", rounds: 7}
	}
	s.subjects, s.parts, s.rounds = cmp.Or(s.subjects, said.subjects), cmp.Or(s.parts, said.parts), cmp.Or(s.rounds, said.rounds)
}

// run measures every subject round by round, so that a change of the machine's mood meets all of them, and prints the tables.
func run(ctx context.Context, s settings) (err error) {
	who, err := pickSubjects(s.subjects)
	if err != nil {
		return err
	}
	what, err := pickParts(s.parts)
	if err != nil {
		return err
	}
	if err := s.ready(who, what); err != nil {
		return err
	}
	if err := settle(); err != nil {
		return err
	}
	record, err := newRecord(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, record.close()) }()
	site, err := newSite(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.close()) }()
	b := &bench{settings: s, site: site, record: record}
	record.add(result{Part: "about", Text: about()})
	for round := 1; round <= s.rounds; round++ {
		if err := b.round(ctx, round, who, what); err != nil {
			return err
		}
	}
	record.print(os.Stdout)
	return record.failed()
}

// ready says whether the libraries are installed, where some are needed.
func (s settings) ready(who []subject, what []part) error {
	outside := slices.ContainsFunc(who, func(s subject) bool { return s.outside })
	bundled := slices.ContainsFunc(what, func(p part) bool { return p.bundled })
	if _, err := os.Stat(filepath.Join(s.folder, "dist", "cold")); (outside || bundled) && err != nil {
		return errors.New("the libraries are not there: `make bench BENCH=p2p` installs them")
	}
	return nil
}

// settle makes the sandbox a machine with one network interface, whose default route leads nowhere: browsers gather addresses
// for peer connections only where there is such a route.
func settle() error {
	if err := lan.Settle(); err != nil {
		return err
	}
	network, err := lan.New("away")
	if err != nil {
		return err
	}
	route := exec.Command("ip", "route", "add", "default", "via", network.Ends()[0].IP)
	if out, err := route.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", route, err, out)
	}
	return nil
}

// about says what the figures were taken on.
func about() string {
	said := fmt.Sprintf("%s, %d cores, %s", time.Now().UTC().Format(time.RFC3339), runtime.NumCPU(), runtime.Version())
	if program, err := chromium.Find(); err == nil {
		if version, err := exec.Command(program, "--version").Output(); err == nil {
			said += ", " + strings.Join(strings.Fields(string(version))[:2], " ")
		}
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		said += ", load before the run " + strings.Fields(string(load))[0]
	}
	return said
}

// newRecord opens the file of results.
func newRecord(s settings) (*record, error) {
	name := s.out
	if name == "" {
		name = filepath.Join(s.folder, "results", time.Now().UTC().Format("2006-01-02T150405")+".jsonl")
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "results go to", name)
	return &record{file: file}, nil
}

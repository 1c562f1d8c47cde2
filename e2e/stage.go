//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hyroute/hyroute/e2e/lan"
	"github.com/hyroute/hyroute/scenarios/history"
)

const (
	nodeAddress = lan.NodeIP + ":8080"
	nodeOrigin  = "http://" + nodeAddress
)

// pair says what stands at either end.
type pair struct{ a, b kind }

type kind string

const (
	chrome  kind = "chromium"
	fox     kind = "firefox"
	program kind = "native"
)

func (p pair) String() string { return string(p.a) + "-" + string(p.b) }

// stage is what a case plays on: a Message Node, and two ends that know nothing yet.
type stage struct {
	settings settings
	alive    context.Context // what is started ends with it
	network  *lan.LAN
	begun    time.Time
	node     *server
	second   *server // of another domain, where a case has one
	nodeLog  tail
	pair     pair
	a, b     *side
	wants    wants
	checks   []func([]history.Record) error // what this case asks for beside wants
	notes    tail
	seen     map[string]any   // of the line
	records  []history.Record // of runtimes that are gone
	first    int              // number of the next message, where a case sends more than one stream
	trace    bool             // this case reads what the machines were told and answered
	turn     bool             // ends keep to TURN
}

func newStage(ctx context.Context, s settings, network *lan.LAN, p pair) (*stage, error) {
	st := &stage{settings: s, alive: ctx, network: network, pair: p, begun: time.Now(), seen: map[string]any{}}
	st.node = st.newServer(nodeAddress)
	if err := st.node.start(ctx); err != nil {
		st.tell(os.Stderr)
		return nil, err
	}
	return st, nil
}

// url is where the node's WebSocket is.
func (st *stage) url() string { return "ws://" + nodeAddress + "/ws" }

// since is the clock of the stage.
func (st *stage) since() time.Duration { return time.Since(st.begun) }

// enter starts both ends, at once. Where hold is given, no module reaches a before it is closed.
func (st *stage) enter(ctx context.Context, hold <-chan struct{}) error {
	start := func(name string, k kind, at *lan.End, hold <-chan struct{}) (*side, error) {
		s := &side{name: name, news: newNews()}
		var err error
		if k == program {
			s.end, err = startNative(at.Command(st.alive, st.settings.peer), s.news)
		} else {
			s.end, err = startBrowser(ctx, st.alive, k, at, hold, s.news)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return s, s.synchronize(ctx, st.since)
	}
	ends := st.network.Ends()
	return both(
		func() (err error) { st.a, err = start("a", st.pair.a, ends[0], hold); return err },
		func() (err error) { st.b, err = start("b", st.pair.b, ends[1], nil); return err },
	)
}

// attend has a witness keep the records of a page that is going to die. Where that is sudden the page waits at each record
// until it is known, so that it can do nothing that nobody knows of.
func (st *stage) attend(s *side, sudden bool) (err error) {
	s.witness, err = newWitness(st.since)
	s.sudden = sudden
	return err
}

func (st *stage) sides() []*side {
	var there []*side
	for _, s := range []*side{st.a, st.b} {
		if s != nil {
			there = append(there, s)
		}
	}
	return there
}

// gather collects the histories of both ends, also after a case that failed.
func (st *stage) gather() ([]history.Record, error) {
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	all := st.records
	var failed error
	for _, s := range st.sides() {
		records, err := s.records(ctx)
		for i := range records {
			// Resets and gaps name the peer's runtime, whose end is the address that is named after it.
			if id, runtime := strings.CutPrefix(records[i].Peer, "runtime://"); runtime {
				records[i].Peer = "hyperty://" + id
			}
		}
		all = append(all, records...)
		failed = errors.Join(failed, err)
	}
	return all, failed
}

// again is what the runtimes of both ends counted. One that can not say so counts nothing.
func (st *stage) again() (sum again) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	for _, s := range st.sides() {
		var counted struct{ Resent, Repeated uint64 }
		if err := s.call(ctx, "counted", &counted); err != nil {
			st.note("%s does not say what it sent again: %v", s.name, err)
		}
		sum.Sent += counted.Resent
		sum.Came += counted.Repeated
	}
	return sum
}

// close ends all that the stage started, and lets packets pass again.
func (st *stage) close() error {
	err := errors.Join(st.network.PassUDP(), st.network.PassTCP())
	for _, s := range st.sides() {
		if s.witness != nil {
			err = errors.Join(err, s.witness.close())
		}
		if closed := s.close(); closed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.name, closed))
		}
	}
	if st.second != nil {
		err = errors.Join(err, st.second.stop())
	}
	return errors.Join(err, st.node.stop())
}

// tell writes the end of each log.
func (st *stage) tell(w io.Writer) {
	const most = 4000
	print := func(name, log string) {
		if len(log) > most {
			log = "..." + log[len(log)-most:]
		}
		if log != "" {
			fmt.Fprintf(w, "--- %s\n%s\n", name, log)
		}
	}
	print("case", st.notes.String())
	print("node", st.nodeLog.String())
	for _, s := range st.sides() {
		print(s.name, s.log())
	}
}

// paths is a side's log of path changes: when, to which, and why.
func (st *stage) paths(s *side) (lines []string) {
	for _, e := range s.news.of(eventPath) {
		lines = append(lines, fmt.Sprintf("%.1f s %s", e.at.Sub(st.begun).Seconds(), e.Text))
	}
	return lines
}

// pathLog is what both sides said of their paths.
func (st *stage) pathLog() map[string][]string {
	log := map[string][]string{}
	for _, s := range st.sides() {
		if lines := st.paths(s); len(lines) > 0 {
			log[s.name] = lines
		}
	}
	return log
}

// keep writes history and logs to files whose names begin with name.
func (st *stage) keep(name string, records []history.Record) error {
	file, err := os.Create(name + ".history.jsonl")
	if err != nil {
		return err
	}
	err = errors.Join(history.Write(file, records...), file.Close())
	logs := map[string]string{"case": st.notes.String(), "node": st.nodeLog.String()}
	for _, s := range st.sides() {
		logs[s.name] = s.log()
		if st.settings.trace {
			ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
			text, failed := s.trace(ctx)
			stop()
			logs[s.name+".trace"] = text
			err = errors.Join(err, failed)
		}
	}
	for who, text := range logs {
		err = errors.Join(err, os.WriteFile(name+"."+who+".log", []byte(text), 0o666))
	}
	return err
}

// note keeps a line for who reads the logs.
func (st *stage) note(format string, arguments ...any) {
	fmt.Fprintf(&st.notes, "%8.3f s  "+format+"\n", append([]any{st.since().Seconds()}, arguments...)...)
}

// both runs two functions at once, and joins their errors.
func both(one, other func() error) error {
	var wait sync.WaitGroup
	var first, second error
	wait.Go(func() { first = one() })
	wait.Go(func() { second = other() })
	wait.Wait()
	return errors.Join(first, second)
}

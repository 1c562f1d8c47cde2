package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// process is one life that runs.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan string
	errors *traced
}

func begin(t *testing.T, l life) *process {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0]), lines: make(chan string, 1<<20), errors: &traced{}}
	p.cmd.Env = append(os.Environ(), lifeVariable+"="+string(text))
	p.cmd.Stderr = p.errors
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	return p
}

// reads waits until it says that.
func (p *process) reads(t *testing.T, wanted string) bool {
	t.Helper()
	late := time.After(2 * limit)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok || line == wanted {
				return ok
			}
		case <-late:
			t.Fatalf("it does not say %q: %s", wanted, p.errors)
		}
	}
}

// deliveries waits until it took so many messages.
func (p *process) deliveries(t *testing.T, count int) {
	t.Helper()
	for range count {
		if !p.reads(t, "delivered") {
			return
		}
	}
}

// kill ends it at once, as the system does when it has no memory left.
func (p *process) kill() {
	p.cmd.Process.Kill()
	for range p.lines {
	}
	p.cmd.Wait()
}

// TestKilledInMidTraffic kills processes with a store again and again while both send, each time at another instant, and goes on with
// the next life. Nothing is lost, repeated or reordered but the message that a listener had in hand, and nobody is told of a
// session-reset or a gap: for the sessions nothing happened.
func TestKilledInMidTraffic(t *testing.T) {
	kills := 40
	if testing.Short() {
		kills = 8
	}
	for _, direct := range []bool{false, true} {
		t.Run(fmt.Sprintf("linked, direct %v", direct), func(t *testing.T) { killAgainAndAgain(t, kills, life{Direct: direct}) })
	}
	t.Run("module", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "hyroute.wasm")
		if err := os.WriteFile(file, module(t), 0o600); err != nil {
			t.Fatal(err)
		}
		killAgainAndAgain(t, 8, life{Module: file, Cache: cache})
	})
}

func killAgainAndAgain(t *testing.T, kills int, kind life) {
	n := startNode(t)
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	chance := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d, logs in %s", seed, dir)
	lives := map[string]life{}
	running := map[string]*process{}
	start := func(name, peer string) {
		l := lives[name]
		l.Name, l.Node, l.Module, l.Cache, l.Direct = name, n.url, kind.Module, kind.Cache, kind.Direct
		l.Peer = "hyperty://" + testDomain + "/" + peer
		l.Store, l.Log = filepath.Join(dir, name), filepath.Join(dir, name+".log")
		l.Number++
		lives[name] = l
		running[name] = begin(t, l)
	}
	peers := map[string]string{"alice": "bob", "bob": "alice"}
	t.Cleanup(func() {
		for name, p := range running {
			if t.Failed() {
				p.cmd.Process.Signal(syscall.SIGQUIT) // says where it is
				p.cmd.Wait()
				t.Logf("%s, life %d: %s", name, lives[name].Number, p.errors)
			}
			p.kill()
		}
		if t.Failed() {
			keep, _ := os.MkdirTemp("", "killed")
			exec.Command("cp", "-r", dir, keep).Run()
			t.Logf("logs kept in %s", keep)
		}
	})
	start("alice", "bob")
	start("bob", "alice")
	for range kills {
		victims := [][]string{{"alice"}, {"bob"}, {"alice", "bob"}}[chance.IntN(3)]
		// Before it is up, while it takes up the old work, or in mid traffic.
		running[victims[0]].deliveries(t, []int{0, chance.IntN(5), chance.IntN(300)}[chance.IntN(3)])
		for _, name := range victims {
			running[name].kill()
			if text := running[name].errors.String(); text != "" {
				t.Errorf("%s died by itself: %s", name, text)
			}
		}
		for _, name := range victims {
			start(name, peers[name])
		}
	}
	for _, p := range running {
		fmt.Fprintln(p.in)
	}
	for name, p := range running {
		if !p.reads(t, "settled") {
			t.Errorf("%s ended before all was settled: %s", name, p.errors)
		}
	}
	for name, p := range running {
		fmt.Fprintln(p.in)
		for range p.lines {
		}
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%s: %v %s", name, err, p.errors)
		}
	}
	judgeKilled(t, lives)
}

// judgeKilled makes one history of the logs, and judges it.
func judgeKilled(t *testing.T, lives map[string]life) {
	var records []history.Record
	stored, settled := map[string]bool{}, map[string]bool{}
	delivered := map[string]int{}
	all := map[string][]seen{}
	for name, l := range lives {
		log, err := readLife(l.Log)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = log
		for _, s := range log {
			switch s.Kind {
			case "stored", "restored":
				stored[s.Message] = true
			case "settled":
				settled[s.Message] = true
			case "delivered":
				delivered[s.Message]++
			}
		}
	}
	inHand, unheard, twice, problems := 0, 0, 0, 0
	outcomes := map[string]seen{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var last seen // the delivery before
		for _, s := range all[name] {
			r := s.Record
			switch s.Kind {
			case "problem":
				problems++
				if !strings.Contains(r.Reason, "not written to its end") {
					t.Logf("%s, life %d: %s", name, s.Life, r.Reason)
				}
				continue
			case "intended":
				// One that its sender did not live to store was never accepted.
				if !stored[r.Message] && delivered[r.Message] == 0 && !settled[r.Message] {
					continue
				}
				r.Kind = history.Posted
			case "settled":
				r.Kind = history.Settled
				// What the last step of a life told may be told once more by the next.
				if before, ok := outcomes[r.Message]; ok && before.Life < s.Life && before.Outcome == s.Outcome {
					twice++
					continue
				}
				outcomes[r.Message] = s
			case "reset":
				r.Kind = history.Reset
			case "gap":
				r.Kind = history.Gap
			case "delivered":
				r.Kind = history.Delivered
				if last.Message == r.Message && last.Life < s.Life {
					inHand++ // the one that it was handling when it died
					last = s
					continue
				}
				last = s
			default:
				continue
			}
			records = append(records, r)
			// What became of it was told to a life that did not live to write it down.
			if r.Kind == history.Posted && !settled[r.Message] {
				unheard++
				records = append(records, history.Record{End: r.End, Kind: history.Settled, Message: r.Message, Outcome: history.OutcomeDelivered})
			}
		}
	}
	verdict := history.Check(records, history.Options{})
	if err := verdict.Err(); err != nil {
		t.Error(err)
	}
	t.Logf("%d stored, %d delivered, %d of them again because they were in hand; outcomes told to a life that died at once: %d, once more to the next: %d; %d problems",
		len(stored), len(delivered), inHand, unheard, twice, problems)
	if deaths := lives["alice"].Number + lives["bob"].Number - 2; inHand > deaths || unheard+twice > 31*deaths || len(delivered) < 100 {
		t.Errorf("%d deaths", deaths)
	}
}

package machine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
	"github.com/hyroute/hyroute/wasm/wasmtest"
)

// poison is door.Poison of a module that was built with the tag trap.
var poison = address.MustParse("hyperty://trap.example/poison")

func config() engine.Config {
	return engine.Config{
		Runtime: address.MustParse("runtime://a.example/r1"),
		Wall:    1700000000000,
		Seed:    0x0123456789abcdef,
		Domains: []string{"b.example"},
		Direct:  true,
	}
}

// step is one Step of a script.
type step struct {
	now    engine.Instant
	events []engine.Event
}

func parse(t testing.TB, frames ...string) []step {
	t.Helper()
	var script []step
	for _, frame := range frames {
		var d wire.Decoder
		now, events, err := d.Frame([]byte(frame))
		if err != nil {
			t.Fatalf("%s%v", frame, err)
		}
		script = append(script, step{now, events})
	}
	return script
}

// script is a life in which much waits: messages to listeners here, to an entity that is being looked up, to a peer whose
// session has not been answered, and back-end traffic.
func script(t testing.TB) []step {
	frames := []string{
		"at now=0\nendpoint-registered address=hyperty://a.example/alice\nendpoint-registered address=hyperty://a.example/carol\n",
		"at now=1\nmessage-posted msg=1 from=hyperty://a.example/alice to=hyperty://a.example/carol size=5\n",
		"at now=1\ndelivery-taken delivery=1\n",
		"at now=2\nmessage-posted msg=2 from=hyperty://a.example/alice to=runtime://b.example/r9 size=20000\n",
		"at now=2\nmessage-posted msg=3 from=hyperty://a.example/alice to=hyperty://b.example/bob size=10\n",
		"at now=3\nmessage-posted msg=4 from=hyperty://a.example/alice to=domain://registry.a.example size=100 answer=5000\n",
		"at now=4\nstub-changed stub=1 status=in-progress\n",
		"at now=40\nstub-changed stub=1 status=live\n",
		"at now=45\nstub-changed stub=2 status=live\n",
		"at now=50\nregistry-answered job=1 code=200\nregistry-answered job=2 code=200\nhandle-named stub=2 handle=7 runtime=runtime://b.example/r9\n",
		"at now=55\nregistry-answered job=3 code=200 runtime=runtime://b.example/r9 sessions=1\n",
		"at now=60\ntime-passed\n",
	}
	for i := range 30 {
		frames = append(frames, fmt.Sprintf("at now=%d\nmessage-posted msg=%d from=hyperty://a.example/carol to=runtime://b.example/r%d size=%d deadline=%d\n",
			100+i, 10+i, i%3, 1+i*1000, 1000+100*i))
	}
	for i := range 40 {
		frames = append(frames, fmt.Sprintf("at now=%d\ntime-passed\n", 200+i*250))
	}
	frames = append(frames, "at now=20000\nmessage-posted msg=100 from=hyperty://a.example/alice to=hyperty://a.example/carol size=1\nclosing\n")
	return parse(t, frames...)
}

// play steps a machine through a script and gives its trace.
func play(t testing.TB, m Machine, script []step) string {
	t.Helper()
	var trace []byte
	for _, s := range script {
		effects, err := m.Step(s.now, s.events...)
		if err != nil {
			t.Fatalf("%s%v", wire.AppendFrame(nil, s.now, s.events...), err)
		}
		trace = wire.AppendFrame(trace, s.now, s.events...)
		trace = wire.AppendEffects(append(trace, "----\n"...), effects)
	}
	return string(trace)
}

func linkedMachine(t testing.TB) Machine {
	t.Helper()
	m, _, err := Linked(config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func moduleMachine(t testing.TB, o Options, tags ...string) Machine {
	t.Helper()
	m, _, err := Module(wasmtest.Module(t, tags...), config(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestBothFormsAnswerAlike(t *testing.T) {
	linked, first, err := Linked(config())
	if err != nil {
		t.Fatal(err)
	}
	module, second, err := Module(wasmtest.Module(t), config(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close()
	if a, b := wire.AppendEffects(nil, first), wire.AppendEffects(nil, second); string(a) != string(b) {
		t.Errorf("at the start\n%s, the module\n%s", a, b)
	}
	want := play(t, linked, script(t))
	same(t, "the module", play(t, module, script(t)), want)
	for _, verb := range []string{"deliver", "transmit", "settle", "query-registry", "forward", "signal", "routed", "wake"} {
		if !strings.Contains(want, "\n"+verb+" ") {
			t.Errorf("the script does too little to compare anything: no %s in\n%s", verb, want)
		}
	}
}

// same compares two traces and shows the first difference.
func same(t testing.TB, who, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s differs from the linked engine in line %d of the trace:\n got %s\nwant %s\nafter\n%s",
				who, i+1, g[i], w[i], strings.Join(w[max(0, i-12):i], "\n"))
			return
		}
	}
	if len(g) != len(w) {
		t.Errorf("%s: a trace of %d lines, want %d", who, len(g), len(w))
	}
}

// TestNothingIsLostInATrap provokes a trap at every place of the script in turn. The machine must go on as one that was
// never asked to take the poison.
func TestNothingIsLostInATrap(t *testing.T) {
	steps := script(t)
	want := play(t, linkedMachine(t), steps)
	deadly := &engine.MessagePosted{Msg: 1000, From: address.MustParse("hyperty://a.example/alice"), To: poison, Size: 1}
	options := []Options{{}, {JournalFrames: 1}, {JournalFrames: 7}, {JournalBytes: 300}}
	if testing.Short() {
		options = options[2:3]
	}
	for _, o := range options {
		m := moduleMachine(t, o, "trap")
		var trace strings.Builder
		for i, s := range steps {
			if i%5 == 0 {
				effects, err := m.Step(s.now, deadly)
				var trap *TrapError
				if !errors.As(err, &trap) || effects != nil {
					t.Fatalf("the poison gave %d effects and %v", len(effects), err)
				}
				if frame := string(wire.AppendFrame(nil, s.now, deadly)); string(trap.Frame) != frame {
					t.Errorf("the trap is reported with\n%s, not\n%s", trap.Frame, frame)
				}
				if !strings.Contains(trap.Reason, "panic: door: a message to "+poison.String()) {
					t.Errorf("the trap is reported with the reason %q", trap.Reason)
				}
				if !strings.Contains(err.Error(), "unreachable") || !strings.Contains(err.Error(), poison.String()) {
					t.Errorf("the error says only %v", err)
				}
			}
			trace.WriteString(play(t, m, []step{s}))
		}
		same(t, fmt.Sprintf("the module with %+v", o), trace.String(), want)
	}
}

// TestPoisonTakesItsWholeFrame: events in the same Step as the poison are left out with it, and others are not.
func TestPoisonTakesItsWholeFrame(t *testing.T) {
	m := moduleMachine(t, Options{}, "trap")
	carol := address.MustParse("hyperty://a.example/carol")
	message := &engine.MessagePosted{Msg: 1, From: carol, To: carol}
	steps := parse(t, "at now=1\nendpoint-registered address=hyperty://a.example/carol\n")
	play(t, m, steps)
	_, err := m.Step(2, message, &engine.MessagePosted{Msg: 2, From: carol, To: poison})
	if trap := (*TrapError)(nil); !errors.As(err, &trap) {
		t.Fatal(err)
	}
	linked := linkedMachine(t)
	play(t, linked, steps)
	again := []step{{3, []engine.Event{message}}}
	same(t, "the module", play(t, m, again), play(t, linked, again))
}

func TestSnapshotsGoFromOneFormToTheOther(t *testing.T) {
	wasm := wasmtest.Module(t)
	steps := script(t)
	half := len(steps) / 2
	linked := linkedMachine(t)
	want := play(t, linked, steps)

	first := linkedMachine(t)
	play(t, first, steps[:half])
	rest := strings.TrimPrefix(want, play(t, linkedMachine(t), steps[:half]))
	snapshot, err := first.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	inModule, err := RestoreModule(wasm, snapshot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer inModule.Close()
	back, err := inModule.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if string(back) != string(snapshot) {
		t.Errorf("the snapshot of a restored module has %d bytes, other than the %d it was restored from", len(back), len(snapshot))
	}
	inEngine, err := RestoreLinked(back)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the restored module", play(t, inModule, steps[half:]), rest)
	same(t, "the restored engine", play(t, inEngine, steps[half:]), rest)
}

func TestBadSnapshotIsRefused(t *testing.T) {
	for _, snapshot := range [][]byte{nil, []byte("x"), make([]byte, 1000)} {
		if m, err := RestoreLinked(snapshot); err == nil || m != nil {
			t.Errorf("the engine took a snapshot of %d bytes", len(snapshot))
		}
		if m, err := RestoreModule(wasmtest.Module(t), snapshot, Options{}); err == nil || m != nil {
			t.Errorf("the module took a snapshot of %d bytes", len(snapshot))
		}
	}
}

func TestClosedMachinesSaySo(t *testing.T) {
	for name, m := range map[string]Machine{"linked": linkedMachine(t), "module": moduleMachine(t, Options{})} {
		for range 2 {
			if err := m.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := m.Step(1, &engine.TimePassed{}); !errors.Is(err, errClosed) {
			t.Errorf("%s: Step after Close gave %v", name, err)
		}
		if _, err := m.Snapshot(); !errors.Is(err, errClosed) {
			t.Errorf("%s: Snapshot after Close gave %v", name, err)
		}
	}
}

func TestWrongModulesAreRefused(t *testing.T) {
	empty := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	tests := []struct {
		name, want string
		wasm       []byte
	}{
		{"text", "compile the module", []byte("not a module")},
		{"nothing", "compile the module", nil},
		{"no exports", "the module does not export abi_version", empty},
	}
	for _, test := range tests {
		m, _, err := Module(test.wasm, config(), Options{})
		if err == nil || m != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if _, _, err := Module(wasmtest.Module(t), config(), Options{CacheDir: "/dev/null/x"}); err == nil || !strings.Contains(err.Error(), "cache folder") {
		t.Errorf("a cache folder that can not be: %v", err)
	}
	if m, _, err := Module(wasmtest.Module(t), engine.Config{}, Options{}); err == nil || m != nil {
		t.Errorf("a machine without a runtime was made")
	}
	if m, _, err := Linked(engine.Config{}); err == nil || m != nil {
		t.Errorf("an engine without a runtime was made")
	}
}

// TestMachinesSideBySide: one goroutine each, all of one compiled module.
func TestMachinesSideBySide(t *testing.T) {
	wasm := wasmtest.Module(t)
	want := play(t, linkedMachine(t), script(t))
	dir := ""
	if !testing.Short() {
		dir = t.TempDir() // compiled once more, and kept there
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			m, _, err := Module(wasm, config(), Options{CacheDir: dir})
			if err != nil {
				t.Error(err)
				return
			}
			defer m.Close()
			same(t, "one of four", play(t, m, script(t)), want)
		})
	}
	all.Wait()
	if kept, err := os.ReadDir(dir); dir != "" && (err != nil || len(kept) == 0) {
		t.Errorf("nothing is kept for the next process: %v", err)
	}
}

func BenchmarkStep(b *testing.B) {
	frame := parse(b, "at now=0\nmessage-posted msg=1 from=hyperty://a.example/alice to=hyperty://a.example/carol size=5\n")[0]
	begin := parse(b, "at now=0\nendpoint-registered address=hyperty://a.example/alice\nendpoint-registered address=hyperty://a.example/carol\n")
	for name, m := range map[string]Machine{"linked": linkedMachine(b), "module": moduleMachine(b, Options{})} {
		play(b, m, begin)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := uint64(1); b.Loop(); i++ {
				frame.events[0].(*engine.MessagePosted).Msg = i
				if _, err := m.Step(1, frame.events[0], &engine.DeliveryTaken{Delivery: i}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

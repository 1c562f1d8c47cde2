package world

import (
	"flag"
	"runtime"
	"testing"
	"time"
)

var deep = flag.Bool("deep", false, "TestSmallWorlds plays all worlds with three faults, and with a death and two faults")

// small is a world of two runtimes, two carriers and three messages.
func small() *Plan {
	a, b := "hyperty://d.example/a", "hyperty://d.example/b"
	return &Plan{
		Seed: 5, Until: 6000,
		Bodies: []BodyPlan{{Domain: "d.example", Direct: true, Endpoints: []string{a}}, {Domain: "d.example", Direct: true, Endpoints: []string{b}}},
		Actions: []Action{
			{At: 500, Do: Post, Who: 0, From: a, To: b, Count: 1, Size: 40},
			{At: 520, Do: Post, Who: 1, From: b, To: a, Count: 1, Size: 40},
			{At: 1500, Do: Post, Who: 0, From: a, To: b, Count: 1, Size: 40_000, Deadline: 3000},
		},
	}
}

// TestSmallWorlds explores the small world: all with two faults, all with a death and one fault.
func TestSmallWorlds(t *testing.T) {
	all := []Bounds{{Faults: 2}, {Faults: 1, Crashes: 1}}
	if testing.Short() {
		all = []Bounds{{Faults: 1}, {Crashes: 1}}
	}
	if *deep {
		all = []Bounds{{Faults: 3}, {Faults: 2, Crashes: 1}, {Crashes: 2}}
	}
	for _, bounds := range all {
		start := time.Now()
		e := Explore(small(), Linked(), bounds, runtime.GOMAXPROCS(0))
		t.Logf("%+v: %d worlds in %.1f s", bounds, e.Runs, time.Since(start).Seconds())
		if e.Failure != nil {
			t.Errorf("choices %v: %v", e.Decided, e.Failure)
		}
		if e.Runs < 50 {
			t.Errorf("%+v: only %d worlds: there was nothing to choose", bounds, e.Runs)
		}
	}
}

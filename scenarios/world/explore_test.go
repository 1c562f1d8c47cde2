package world

import (
	"flag"
	"runtime"
	"testing"
	"time"
)

var deep = flag.Bool("deep", false, "TestSmallWorlds plays all worlds with three faults, and with a death and two faults")

// smallWorlds are worlds of two runtimes, two carriers and three messages.
func smallWorlds() map[string]*Plan {
	a, b := "hyperty://d.example/a", "hyperty://d.example/b"
	world := func(actions ...Action) *Plan {
		return &Plan{
			Seed: 5, Until: 6000,
			Bodies: []BodyPlan{
				{Domain: "d.example", Direct: true, Endpoints: []string{a}},
				{Domain: "d.example", Direct: true, Endpoints: []string{b}},
			},
			Actions: actions,
		}
	}
	return map[string]*Plan{
		"first contact from both sides, upgrade, a large message": world(
			Action{At: 500, Do: Post, Who: 0, From: a, To: b, Count: 1, Size: 40},
			Action{At: 520, Do: Post, Who: 1, From: b, To: a, Count: 1, Size: 40},
			Action{At: 1500, Do: Post, Who: 0, From: a, To: b, Count: 1, Size: 40_000, Deadline: 3000},
		),
		"deadlines that pass, a listener that is slow and then refuses": world(
			Action{At: 400, Do: Slow, Who: 1, Mode: 0, For: 1000},
			Action{At: 500, Do: Post, Who: 0, From: a, To: b, Count: 2, Every: 300, Size: 40, Deadline: 600},
			Action{At: 1450, Do: Slow, Who: 1, Mode: 2, For: 1000},
			Action{At: 1500, Do: Post, Who: 0, From: a, To: b, Count: 1, Size: 40},
		),
		"an address that moves": world(
			Action{At: 500, Do: Post, Who: 0, From: a, To: b, Count: 3, Every: 150, Size: 40},
			Action{At: 620, Do: Unregister, Who: 1, From: b, For: 400},
		),
	}
}

// TestSmallWorlds explores the small worlds: all with two faults, all with a death and one fault, all with two deaths.
func TestSmallWorlds(t *testing.T) {
	all := []Bounds{{Faults: 2}, {Faults: 1, Crashes: 1}, {Crashes: 2}}
	if testing.Short() {
		all = []Bounds{{Faults: 1}, {Crashes: 1}}
	}
	if *deep {
		all = []Bounds{{Faults: 3}, {Faults: 2, Crashes: 1}, {Faults: 1, Crashes: 2}}
	}
	for name, p := range smallWorlds() {
		t.Run(name, func(t *testing.T) {
			for _, bounds := range all {
				start := time.Now()
				e := Explore(p, Linked(), bounds, runtime.GOMAXPROCS(0))
				t.Logf("%+v: %d worlds in %.1f s", bounds, e.Runs, time.Since(start).Seconds())
				if e.Failure != nil {
					t.Errorf("choices %v: %v", e.Decided, e.Failure)
				}
				if e.Runs < 50 {
					t.Errorf("%+v: only %d worlds: there was nothing to choose", bounds, e.Runs)
				}
			}
		})
	}
}

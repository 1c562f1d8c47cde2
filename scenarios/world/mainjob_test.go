package world

import "testing"

// TestMainJob is what `make e2e` shows with real browsers, here in virtual time: 10 000 messages each way at 500 a second, while
// the direct path comes up behind the traffic, is silent from a third to two thirds of the run, or is closed by one side.
func TestMainJob(t *testing.T) {
	a, b := "hyperty://d.example/a", "hyperty://d.example/b"
	count, every := 10_000, uint64(2)
	if testing.Short() {
		count, every = 1000, 20
	}
	for name, fault := range map[string]Action{
		"the path is silent for a third of the run": {At: 8000, Do: Stop, Who: 0, Whom: 1, For: 6700},
		"one way only, for a third of the run":      {At: 8000, Do: Stop, Who: 0, Whom: 1, Mode: 1, For: 6700},
		"one side closes its connection":            {At: 8000, Do: Break, Who: 0, Whom: 1},
		"the node is away for two seconds":          {At: 8000, Do: Restart, Node: 0, Mode: 1, For: 2000},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Plan{
				Seed: 3, Until: 25_000,
				Bodies: []BodyPlan{
					{Domain: "d.example", Direct: true, Endpoints: []string{a}},
					{Domain: "d.example", Direct: true, Endpoints: []string{b}},
				},
				Actions: []Action{
					{At: 1000, Do: Post, Who: 0, From: a, To: b, Count: count, Every: every, Size: 100},
					{At: 1000, Do: Post, Who: 1, From: b, To: a, Count: count, Every: every, Size: 100},
					fault,
				},
			}
			r := Run(p, Linked(), nil)
			if r.Failure != nil {
				t.Fatal(r.Failure)
			}
			var gap, last [2]uint64
			direct, relay := 0, 0
			for _, x := range r.Records {
				if x.Path == "" || x.At > 40_000 {
					continue
				}
				side := 0
				if x.To == b {
					side = 1
				}
				if last[side] != 0 {
					gap[side] = max(gap[side], x.At-last[side])
				}
				last[side] = x.At
				if x.Path == "direct" {
					direct++
				} else {
					relay++
				}
			}
			if direct+relay != 2*count {
				t.Errorf("%d messages were delivered", direct+relay)
			}
			if longest := max(gap[0], gap[1]); longest > 2000 {
				t.Errorf("longest gap %d ms", longest)
			}
			if fault.Do == Stop && (direct < 2*count/5 || relay < 2*count/5) {
				t.Errorf("%d by the direct path, %d by the relay", direct, relay)
			}
			t.Logf("longest gaps %v ms, direct %.0f %%", gap, 100*float64(direct)/float64(2*count))
		})
	}
}

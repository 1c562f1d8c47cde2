package world

import "testing"

// One runtime's network changes in mid traffic: its sockets and paths lead nowhere, and nobody else is told. The traffic goes
// on within three seconds, and returns to the same connection by an ICE restart (known-faults.md 13: n0-computer/iroh#3928).
func TestKnownFault13NetworkChanges(t *testing.T) {
	a, b := "hyperty://d.example/a", "hyperty://d.example/b"
	for name, change := range map[string]Action{
		"of the side that makes the offers": {At: 8000, Do: Roam, Who: 0},
		"of the side that answers them":     {At: 8000, Do: Roam, Who: 1},
		"and no event says so":              {At: 8000, Do: Roam, Who: 0, Mode: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := &Plan{
				Seed: 5, Until: 30_000,
				Bodies: []BodyPlan{
					{Domain: "d.example", Direct: true, Endpoints: []string{a}},
					{Domain: "d.example", Direct: true, Endpoints: []string{b}},
				},
				Actions: []Action{
					{At: 1000, Do: Post, Who: 0, From: a, To: b, Count: 500, Every: 40, Size: 100},
					{At: 1000, Do: Post, Who: 1, From: b, To: a, Count: 500, Every: 40, Size: 100},
					change,
				},
			}
			w := newWorld(p, Linked())
			w.run()
			if w.failure != nil {
				t.Fatal(w.failure)
			}
			started := uint64(1000)
			var last, gap, count [2]uint64
			direct := uint64(0) // the first message by the direct path after the change
			for _, x := range w.records {
				if x.Path == "" || x.At > started+p.Until {
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
				count[side]++
				if x.Path == "direct" && direct == 0 && x.At > started+8500 {
					direct = x.At - started - 8000
				}
			}
			made := w.pair(0, 1).made
			t.Logf("longest gaps %v ms, by the direct path again after %d ms, %d connections", gap, direct, made)
			if change.Mode == 1 {
				return // the own socket is dead as well, and only its silence tells: no bound but the world's own promises
			}
			if count != [2]uint64{500, 500} {
				t.Errorf("%v messages were delivered", count)
			}
			if gap[0] > 3000 || gap[1] > 3000 {
				t.Errorf("longest gaps %v ms", gap)
			}
			if made != 1 {
				t.Errorf("%d connections were made: the first one was not restarted", made)
			}
			if direct == 0 || direct > 5000 {
				t.Errorf("by the direct path again after %d ms", direct)
			}
		})
	}
}

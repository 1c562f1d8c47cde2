package world

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/hyroute/hyroute/scenarios/history"
)

// megabit is 1 Mbit/s in bytes a ms.
const megabit = 125

// TestSlowLinkIsNoDeadLink sends a large message and small ones behind it over carriers of 1 Mbit/s: probes must not wait behind
// seconds of payload, or a slow path is taken for a dead one (session.md, addition 5).
func TestSlowLinkIsNoDeadLink(t *testing.T) {
	a, b := "hyperty://d.example/a", "hyperty://d.example/b"
	const size = 3_000_000
	for _, direct := range []bool{true, false} {
		p := &Plan{
			Seed: 1, Until: 60_000,
			Bodies: []BodyPlan{{Domain: "d.example", Direct: direct, Endpoints: []string{a}}, {Domain: "d.example", Direct: direct, Endpoints: []string{b}}},
			Actions: []Action{
				{At: 10, Do: Narrow, Who: 0, Size: megabit, For: 60_000},
				{At: 10, Do: Narrow, Who: 1, Size: megabit, For: 60_000},
				{At: 1000, Do: Post, Who: 0, From: a, To: b, Count: 1, Size: 100},
				{At: 5000, Do: Post, Who: 0, From: a, To: b, Count: 1, Size: size * 2 / 3, Deadline: 60_000},
				{At: 1000, Do: Post, Who: 1, From: b, To: a, Count: 400, Every: 100, Size: 100, Deadline: 60_000},
			},
		}
		var doubted int
		r := Run(p, Linked(), func(step []byte) {
			var name string
			var now uint64
			if _, err := fmt.Sscanf(string(step[:min(len(step), 40)]), "%s at now=%d", &name, &now); err != nil {
				t.Fatalf("%v: %s", err, step)
			}
			if now > 3000 && now < 40_000 { // traffic flows
				doubted += bytes.Count(step, []byte("\npath-changed"))
			}
		})
		if r.Failure != nil {
			t.Errorf("direct %v: %v", direct, r.Failure)
			continue
		}
		if doubted > 0 {
			t.Errorf("direct %v: the path was changed %d times", direct, doubted)
		}
		var started, took uint64
		for _, x := range r.Records {
			if x.Message == "0.0.2" && x.Kind == history.Posted {
				started = x.At
			}
			if x.Message == "0.0.2" && x.Kind == history.Delivered {
				took = x.At - started
			}
		}
		if ideal := uint64(size * 2 / 3 / megabit); took == 0 || took > 2*ideal {
			t.Errorf("direct %v: took %d ms, the line alone needs about %d", direct, took, ideal)
		}
		t.Logf("direct %v: the large message took %d ms", direct, took)
	}
}

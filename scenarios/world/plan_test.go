package world

import (
	"reflect"
	"strings"
	"testing"
)

func TestPlansRoundTrip(t *testing.T) {
	for seed := range uint64(200) {
		p := Generate(seed)
		q, err := ParsePlan("# a comment\n\n" + p.String())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p)
		}
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("seed %d: another plan was read:\n%s\n%s", seed, p, q)
		}
	}
}

func TestParsePlanSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "no body",
		"body domain=d\nat=1 do=dance":          `line 2: unknown verb "dance"`,
		"body domain=d\nat=x do=post":           "line 2: at:",
		"body domain=d\nat=1 do=post colour=1":  `unknown key "colour"`,
		"body domain=d\nat=1 do=freeze who=1":   "action 1: no such body",
		"body domain=d\nat=1 do=restart node=1": "action 1: no such body or node",
		"world seed=1 colour=2\nbody domain=d":  `line 1: colour: unknown key "colour"`,
	} {
		if _, err := ParsePlan(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestGenerateUsesEveryVerb(t *testing.T) {
	seen := map[Verb]int{}
	for seed := range uint64(500) {
		for _, a := range Generate(seed).Actions {
			seen[a.Do]++
		}
	}
	for v := range handlers {
		if seen[v] == 0 {
			t.Errorf("no plan ever has %s", v)
		}
	}
}

func TestShrinkLeavesWhatMatters(t *testing.T) {
	p := Generate(11)
	p.Actions = nil
	for i := range 40 {
		p.Actions = append(p.Actions, Action{At: uint64(i), Do: Post, Count: 20, Size: 300})
	}
	fails := func(q *Plan) bool {
		n := 0
		for _, a := range q.Actions {
			if a.At == 7 && a.Count >= 3 || a.At == 31 {
				n++
			}
		}
		return n == 2
	}
	q := Shrink(p, 1000, fails)
	if len(q.Actions) != 2 || q.Actions[0].Count != 3 || q.Actions[1].Count != 1 {
		t.Errorf("not small:\n%s", q)
	}
	if len(p.Actions) != 40 || p.Actions[7].Count != 20 {
		t.Error("the plan itself was changed")
	}
}

//go:build linux

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// A stream of ten messages, one each 100 ms; the fault happens after 450 ms.
func TestJudge(t *testing.T) {
	begun := time.Now()
	at := func(ms int) time.Time { return begun.Add(time.Duration(ms) * time.Millisecond) }
	d := &death{fault: fault{length: time.Second}, happened: at(450)}
	for _, r := range []struct{ number, ms int }{{0, 0}, {1, 100}, {2, 200}, {3, 300}, {6, 800}, {5, 810}, {5, 820}, {7, 830}, {9, 900}} {
		d.got = append(d.got, receipt{r.number, at(r.ms)})
	}
	d.told = []event{{"down of before", at(10)}, {"up again", at(700)}, {theirs + "down", at(460)}, {"down path", at(650)}}
	var o outcome
	if err := json.Unmarshal([]byte(`{"refused":[{"number":4,"at":600},{"number":7,"at":620,"maybe":true}]}`), &o); err != nil {
		t.Fatal(err)
	}
	r := d.judge(begun, 10, o, begun)
	for name, want := range map[string]float64{
		"accepted": 8, "lost": 1, "refused": 2, "came": 1, "repeated": 1, "disorder": 2, "gap": 500, "gapfrom": -150, "noticed": 150, "recovered": 1,
	} {
		if got := r.Values[name]; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if want := "10 ms receiver: down; 200 ms down path; 250 ms up again"; r.Text != want {
		t.Errorf("told %q, want %q", r.Text, want)
	}
	if _, ok := r.Values["back"]; ok {
		t.Error("no page was killed")
	}
}

// Silence until the end is a gap, and no recovery.
func TestJudgeSilence(t *testing.T) {
	begun := time.Now()
	d := &death{fault: fault{length: 5 * time.Second}, happened: begun.Add(time.Second), got: []receipt{{0, begun.Add(time.Second)}}}
	r := d.judge(begun, 2, outcome{}, begun)
	if r.Values["gap"] != 4000 || r.Values["recovered"] != 0 || r.Values["lost"] != 1 {
		t.Error(r.Values)
	}
}

func TestCPUTimeIsOfChildrenToo(t *testing.T) {
	before, err := cpuTime(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); time.Since(begun) < 300*time.Millisecond; {
	}
	after, err := cpuTime(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	if after-before < 50*time.Millisecond {
		t.Errorf("a loop of 300 ms used %v", after-before)
	}
}

func TestTableHasMedianAndRatio(t *testing.T) {
	r := &record{}
	for round, rate := range []float64{300, 100, 200} {
		for name, factor := range map[string]float64{"dc": 1, "hyroute-direct": 2} {
			r.results = append(r.results, result{Part: "speed", Subject: name, Round: round, Size: 200, Values: map[string]float64{"rate": rate * factor}})
		}
	}
	var text strings.Builder
	r.print(&text)
	if want := "| hyroute direct | 3 | 400 (200-600) | 2.00 |"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, text.String())
	}
}

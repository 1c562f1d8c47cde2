//go:build linux

package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
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
		"accepted": 8, "lost": 1, "refused": 2, "came": 1, "repeated": 1, "disorder": 2, "gap": 500, "faultgap": 500, "noticed": 150, "recovered": 1,
	} {
		if got := r.Values[name]; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if want := "10 ms receiver: down; 200 ms down path; 250 ms up again; the first lost one is 8"; r.Text != want {
		t.Errorf("told %q, want %q", r.Text, want)
	}
	if _, ok := r.Values["back"]; ok {
		t.Error("no page was killed")
	}
}

// A gap long after the fault is not the fault's.
func TestJudgeGaps(t *testing.T) {
	begun := time.Now()
	d := &death{fault: fault{length: 3 * time.Second}, happened: begun.Add(time.Second)}
	for number, ms := range []int{0, 500, 900, 1100, 1300, 2900} {
		d.got = append(d.got, receipt{number, begun.Add(time.Duration(ms) * time.Millisecond)})
	}
	d.got = append(d.got, receipt{6, begun.Add(1600 * time.Millisecond)})
	if r := d.judge(begun, 7, outcome{}, begun); r.Values["gap"] != 1300 || r.Values["faultgap"] != 300 {
		t.Error(r.Values)
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
	before, err := cpuOf(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	for own := ownCPU(t); ownCPU(t)-own < 300*time.Millisecond; {
	}
	after, err := cpuOf(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	before[-1] = time.Hour // has ended since
	if used := after.since(before); used < 250*time.Millisecond {
		t.Errorf("300 ms of work used %v", used)
	}
}

func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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

func TestAims(t *testing.T) {
	r := &record{}
	add := func(part, subject, fault, name string, size int, value float64) {
		r.results = append(r.results, result{Part: part, Subject: subject, Case: fault, Size: size, Values: map[string]float64{name: value}})
	}
	add("speed", "dc", "", "rate", 200, 100)
	add("speed", "hyroute-direct", "", "rate", 200, 200)
	add("rtt", "dc", "", "mean", 0, 1)
	add("rtt", "hyroute-direct", "", "mean", 0, 1.26)
	add("rtt", "ws", "", "mean", 0, 2)
	add("start", "dc", "", "direct", 0, 40)
	add("start", "hyroute-direct", "", "direct", 0, 48)
	add("death", "hyroute-direct", "page", "lost", 0, 0)
	add("death", "hyroute-direct", "page", "lost", 0, 1)
	var text strings.Builder
	r.printAims(&text)
	for _, want := range []string{
		"| hyroute-direct: 200 B, messages/s | 200 | at least 200 | reached |",
		"| hyroute-direct: there and back, ms | 1.26 | at most 1.25 | **missed** |",
		"| hyroute-direct: first message by the direct path, ms | 48 | at most 48 | reached |",
		"| hyroute-direct: lost (fault: page), in the worst round | 1 | at most 0 | **missed** |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if lines := strings.Count(text.String(), "\n"); lines != 7 {
		t.Errorf("%d lines: what was not measured is not judged\n%s", lines, text.String())
	}
}

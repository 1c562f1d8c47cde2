//go:build linux

package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// told is a history of two ends, each of which sent n messages, one every 10 ms, all delivered at once. path says by what.
func told(n int, path func(receiver string, number int) string) []history.Record {
	var records []history.Record
	for _, way := range [][2]string{{"a", "b"}, {"b", "a"}} {
		from, to := way[0], way[1]
		for i := range n {
			at, name := uint64(1000+10*i), fmt.Sprintf("%s#%d", from, i)
			records = append(records,
				history.Record{At: at, End: from, Kind: history.Posted, Message: name, From: from, To: to},
				history.Record{At: at, End: to, Kind: history.Delivered, Message: name, From: from, To: to, Path: path(to, i)},
				history.Record{At: at, End: from, Kind: history.Settled, Message: name, Outcome: history.OutcomeDelivered},
			)
		}
	}
	return records
}

func evenly(_ string, number int) string { return []string{"direct", "relay"}[number%2] }

func TestJudge(t *testing.T) {
	const n = 100
	w := wants{sent: 2 * n, gap: time.Second, leastEach: 0.2}
	delivered := func(records []history.Record, message string) int {
		for i, r := range records {
			if r.Kind == history.Delivered && r.Message == message {
				return i
			}
		}
		t.Fatalf("no delivery of %s", message)
		return 0
	}
	rows := []struct {
		name  string
		spoil func([]history.Record) []history.Record
		want  string // in the error; empty: none
	}{
		{"all is well", func(r []history.Record) []history.Record { return r }, ""},
		{"one is lost", func(r []history.Record) []history.Record {
			i := delivered(r, "a#50")
			return append(r[:i], r[i+1:]...)
		}, "of 200 messages 199 were delivered"},
		{"one comes twice", func(r []history.Record) []history.Record {
			return append(r, r[delivered(r, "a#50")])
		}, "repeated"},
		{"two change places", func(r []history.Record) []history.Record {
			i, j := delivered(r, "b#50"), delivered(r, "b#51")
			r[i].Message, r[j].Message = r[j].Message, r[i].Message
			return r
		}, "out-of-order"},
		{"too few are sent", func(r []history.Record) []history.Record { return r[:len(r)-3] }, "199 messages were posted"},
		{"one direction stands still", func(r []history.Record) []history.Record {
			for i := delivered(r, "a#50"); i < len(r); i++ {
				if r[i].End == "b" && r[i].Kind == history.Delivered {
					r[i].At += 1000
				}
			}
			return r
		}, "b waited 1.01s"},
		{"one direction never goes direct", func(r []history.Record) []history.Record {
			for i := range r {
				if r[i].Kind == history.Delivered {
					r[i].Path = map[string]string{"a": "relay", "b": "direct"}[r[i].End]
				}
			}
			return r
		}, "a got 0.0 % by direct"},
		{"nothing arrives", func(r []history.Record) []history.Record { return r[:0] }, "0 messages were posted"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var l line
			err := w.judge(&l, row.spoil(told(n, evenly)))
			switch {
			case row.want == "" && err != nil:
				t.Errorf("%v", err)
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("the judge says %v, and not %q", err, row.want)
			}
		})
	}
}

func TestLineCountsBothDirections(t *testing.T) {
	var l line
	if err := (wants{sent: 20}).judge(&l, told(10, evenly)); err != nil {
		t.Fatal(err)
	}
	want := line{Sent: 20, Received: 20, LongestGapMs: 10, Share: share{0.5, 0.5}}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("%+v, not %+v", l, want)
	}
}

func TestAnOutageIsNoGap(t *testing.T) {
	var records []history.Record
	for _, at := range []uint64{0, 100, 5100, 5200, 6000} {
		records = append(records, history.Record{At: at, End: "b", Kind: history.Delivered})
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, row := range []struct {
		outages      []span
		longest, gap time.Duration
	}{
		{nil, ms(5000), ms(100)},
		{[]span{{ms(200), ms(5000)}}, ms(800), ms(5200)},
		{[]span{{ms(0), ms(4000)}}, ms(1100), ms(100)},
		{[]span{{ms(50), ms(9000)}}, ms(50), ms(0)},
		{[]span{{ms(200), ms(1000)}, {ms(1000), ms(5000)}}, ms(800), ms(5200)},
	} {
		if longest, at := longestGap(records, "b", row.outages); longest != row.longest || at != row.gap {
			t.Errorf("with outages %v: %v from %v on, not %v from %v on", row.outages, longest, at, row.longest, row.gap)
		}
	}
}

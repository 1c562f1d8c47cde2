//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

// line is what is printed for a case and pair. Counts are of both directions together, received ones without repeats; the
// longest gap is the longer one of the two.
type line struct {
	Case         string `json:"case"`
	Pair         string `json:"pair"`
	Sent         int    `json:"sent"`
	Received     int    `json:"received"`
	Duplicates   int    `json:"duplicates"`
	OutOfOrder   int    `json:"outOfOrder"`
	LongestGapMs uint64 `json:"longestGapMs"`
	// GapBesideMs is the longest gap where what nothing could pass in is left out; only where there was such a time.
	GapBesideMs uint64 `json:"gapBesideMs,omitempty"`
	Share       share  `json:"share"`
	// Again counts pieces of messages: those that were sent more than once, and those that came more than once and were dropped.
	Again again `json:"again"`
	// Seen is what a case has to say beside: what it saw of the fault, and of how it was answered.
	Seen map[string]any `json:"seen,omitempty"`
	// Path is the log of path changes of either end: when, to which, and why.
	Path map[string][]string `json:"path,omitempty"`
	// Load is how many processes wanted a processor at the end, in the mean of a minute: times are of a busy machine where it
	// is above the number of processors.
	Load float64 `json:"load"`
	OK   bool    `json:"ok"`
}

type again struct {
	Sent uint64 `json:"sent"`
	Came uint64 `json:"came"`
}

type share struct {
	Direct float64 `json:"direct"`
	Relay  float64 `json:"relay"`
}

// wants is what a case asks of the history of its ends, beside every message exactly once and in order.
type wants struct {
	sent      int           // by both together
	gap       time.Duration // longest gap, each direction; 0: any
	leastEach float64       // share of either carrier, each direction
	outages   []span        // while nothing could pass: no part of a gap
	refused   string        // messages may be rejected for this reason, for sure
	forgetful bool          // an end loses its memory: messages may be missing where the history says that both ends were told
}

// span is a time on the stage's clock.
type span struct{ from, to time.Duration }

// judge fills the line from the history of both ends, and says what is not as wanted.
func (w wants) judge(l *line, records []history.Record) error {
	verdict := history.Check(records, history.Options{})
	sum := verdict.Summary
	l.Sent, l.Received, l.Duplicates, l.OutOfOrder, l.LongestGapMs = sum.Posted, sum.Delivered-sum.Duplicates, sum.Duplicates, sum.OutOfOrder, sum.LongestGap
	l.Share = share{round(sum.Share["direct"]), round(sum.Share["relay"])}
	wrong := []error{verdict.Err()}
	say := func(format string, arguments ...any) { wrong = append(wrong, fmt.Errorf(format, arguments...)) }
	if sum.Posted != w.sent {
		say("%d messages were posted, not %d", sum.Posted, w.sent)
	}
	outcomes := map[string]int{}
	for _, r := range records {
		if r.Kind == history.Settled {
			outcomes[r.Outcome]++
		}
	}
	refused := 0
	for _, r := range records {
		if r.Kind == history.Settled && r.Outcome == history.OutcomeRejected && r.Reason == w.refused && !r.Maybe {
			refused++
		}
	}
	taken := sum.Posted - refused
	if short := sum.Delivered != taken || outcomes[history.OutcomeDelivered] != taken; short && !w.forgetful {
		say("of %d messages %d were delivered; their senders were told %v", sum.Posted, sum.Delivered, outcomes)
	}
	for receiver, one := range byReceiver(records) {
		gap, at := longestGap(records, receiver, w.outages)
		if len(w.outages) > 0 {
			l.GapBesideMs = max(l.GapBesideMs, uint64(gap.Milliseconds()))
		}
		if w.gap > 0 && gap >= w.gap {
			say("%s waited %v between two deliveries, from %v on: less than %v was wanted", receiver, gap, at, w.gap)
		}
		for _, path := range []string{"direct", "relay"} {
			if got := one.Share[path]; got < w.leastEach {
				say("%s got %.1f %% by %s: at least %.0f %% was wanted", receiver, 100*got, path, 100*w.leastEach)
			}
		}
	}
	return errors.Join(wrong...)
}

// longestGap is the longest time between two deliveries in a row to an end, and when it began. Outages do not count.
func longestGap(records []history.Record, receiver string, outages []span) (longest, at time.Duration) {
	last := time.Duration(-1)
	for _, r := range records {
		if r.Kind != history.Delivered || r.End != receiver {
			continue
		}
		now := time.Duration(r.At) * time.Millisecond
		if last >= 0 {
			gap := now - last
			for _, o := range outages {
				gap -= max(0, min(now, o.to)-max(last, o.from))
			}
			if gap > longest {
				longest, at = gap, last
			}
		}
		last = now
	}
	return longest, at
}

// byReceiver summarizes each direction for itself, for one may starve while the sum looks well.
func byReceiver(records []history.Record) map[string]history.Summary {
	deliveries := map[string][]history.Record{}
	for _, r := range records {
		if r.Kind == history.Delivered {
			deliveries[r.End] = append(deliveries[r.End], r)
		}
	}
	sums := map[string]history.Summary{}
	for end, some := range deliveries {
		sums[end] = history.Check(slices.Clone(some), history.Options{Open: true}).Summary
	}
	return sums
}

func round(share float64) float64 { return float64(int(share*1000+0.5)) / 1000 }

//go:build linux

package main

import (
	"fmt"
	"io"
)

// aim is a figure that hyroute is to reach: one of its own against one of another subject in the same run, or against a number.
type aim struct {
	what    string
	own     figure
	against figure
	factor  float64 // of the other figure; the bound itself where there is none
	plus    func(r *record) (float64, bool)
	least   bool // the own figure is to be at least the bound; else at most
}

// figure names one in the results.
type figure struct {
	where result
	name  string
	worst bool // of all rounds; else the median
}

func of(part, subject, name string) figure {
	return figure{where: result{Part: part, Subject: subject}, name: name}
}

func (f figure) size(bytes int) figure {
	f.where.Size = bytes
	return f
}

// inDeath is the worst of a death.
func inDeath(subject, fault, name string) figure {
	return figure{result{Part: "death", Subject: subject, Case: fault}, name, true}
}

// read gives the figure, if it was measured.
func (f figure) read(r *record) (float64, bool) {
	values := r.of(f.where, f.name)
	if len(values) == 0 {
		return 0, false
	}
	if f.worst {
		return values[len(values)-1], true
	}
	return median(values), true
}

// rate is an aim for messages a second.
func rate(own, against string, size int, factor float64) aim {
	return aim{
		what: fmt.Sprintf("%s: %d B, messages/s", own, size), own: of("speed", own, "rate").size(size), against: of("speed", against, "rate").size(size),
		factor: factor, least: true,
	}
}

func aims() []aim {
	all := []aim{
		rate("hyroute-direct", "dc", 200, 2), rate("hyroute-direct", "dc", 1024, 1.5), rate("hyroute-direct", "dc", 16_384, 0.9),
		{what: "hyroute-direct: 200 B, CPU us", own: of("speed", "hyroute-direct", "cpu").size(200), against: of("speed", "dc", "cpu").size(200), factor: 1},
		rate("hyroute-pion", "pion", 200, 1), rate("hyroute-pion", "pion", 1024, 1), rate("hyroute-pion", "pion", 16_384, 0.9),
		rate("hyroute-relay", "ws", 16_384, 0.9), rate("hyroute-relay", "nats", 200, 1),
	}
	for _, pair := range [][2]string{{"hyroute-relay", "ws"}, {"hyroute-direct", "dc"}, {"hyroute-pion", "pion"}} {
		all = append(all, aim{what: pair[0] + ": there and back, ms", own: of("rtt", pair[0], "mean"), against: of("rtt", pair[1], "mean"), factor: 1.25})
	}
	for _, own := range []string{"hyroute-relay", "hyroute-direct"} {
		all = append(all,
			aim{what: own + ": first message, ms", own: of("start", own, "first"), against: of("start", "socketio-ws", "first"), factor: 1},
			aim{what: own + ", loaded ahead: first message, ms", own: of("start", own, ahead+"first"), against: of("start", "socketio-ws", "first"), factor: 1},
		)
	}
	all = append(all, aim{
		what: "hyroute-direct: first message by the direct path, ms", own: of("start", "hyroute-direct", "direct"), against: of("start", "dc", "direct"), factor: 1,
		plus: func(r *record) (float64, bool) { // signals go there and back by the relay four times
			trip, ok := of("rtt", "ws", "mean").read(r)
			return 4 * trip, ok
		},
	})
	for _, own := range []string{"hyroute-relay", "hyroute-direct"} {
		for _, f := range faults {
			for _, name := range []string{"lost", "repeated", "disorder"} {
				all = append(all, aim{what: fmt.Sprintf("%s: %s (fault: %s), in the worst round", own, name, f.name), own: inDeath(own, f.name, name)})
			}
		}
		all = append(all, aim{what: own + ": ms until the sender is told of a dead page, in the worst round", own: inDeath(own, "page", "noticed"), factor: 1000})
	}
	// What a bare channel takes that is offered anew as soon as its close is noticed.
	const naive = 131
	gap := inDeath("hyroute-direct", "connection", "faultgap")
	gap.worst = false
	return append(all, aim{what: "hyroute-direct: gap when the connection dies, ms", own: gap, factor: naive})
}

// printAims says of each aim that was measured whether it was reached.
func (r *record) printAims(w io.Writer) {
	heading := false
	for _, a := range aims() {
		seen, ok := a.own.read(r)
		bound, also := a.bound(r)
		if !ok || !also {
			continue
		}
		if !heading {
			row(w, []string{"Aim", "seen", "bound", ""})
			row(w, []string{"---", "---", "---", "---"})
			heading = true
		}
		reached, sign := seen <= bound, "at most"
		if a.least {
			reached, sign = seen >= bound, "at least"
		}
		verdict := "reached"
		if !reached {
			verdict = "**missed**"
		}
		row(w, []string{a.what, number(seen), sign + " " + number(bound), verdict})
	}
	if heading {
		fmt.Fprintln(w)
	}
}

func number(value float64) string {
	if value >= 100 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.3g", value)
}

// bound is what the own figure is held against.
func (a aim) bound(r *record) (float64, bool) {
	if a.against.name == "" {
		return a.factor, true
	}
	other, ok := a.against.read(r)
	if !ok {
		return 0, false
	}
	bound := a.factor * other
	if a.plus != nil {
		more, ok := a.plus(r)
		return bound + more, ok
	}
	return bound, true
}

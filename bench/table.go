//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
)

// column is a figure of a table.
type column struct {
	title  string
	value  string // its name in results
	format string
	ratio  bool // set in relation to the bare subject of the same run
}

// print prints all tables that there are results for: medians, and how far the rounds lay apart.
func (r *record) print(w io.Writer) {
	for _, one := range r.results {
		if one.Part == "about" {
			fmt.Fprintf(w, "%s\n\n", one.Text)
		}
	}
	r.table(w, "There and back, 64 B", result{Part: "rtt"}, []column{
		{"mean ms", "mean", "%.3f", true}, {"p99 ms", "p99", "%.2f", false}, {"CPU us", "cpu", "%.0f", true},
	})
	for _, size := range sizes {
		r.table(w, fmt.Sprintf("One way, %d B", size), result{Part: "speed", Size: size}, []column{
			{"messages/s", "rate", "%.0f", true}, {"MB/s", "mbs", "%.1f", false}, {"CPU us a message", "cpu", "%.1f", true},
			{"cores: ends", "ends", "%.2f", false}, {"server", "server", "%.2f", false},
		})
	}
	r.table(w, "From the script's start, all in the cache", result{Part: "start"}, []column{
		{"ready ms", "ready", "%.1f", false}, {"first message ms", "first", "%.1f", true}, {"first by the direct path ms", "direct", "%.1f", true},
		{"loaded ahead: first message ms", ahead + "first", "%.1f", false}, {"by the direct path ms", ahead + "direct", "%.1f", false},
	})
	for _, network := range networks {
		r.table(w, "Cold start, "+network.name, result{Part: "cold", Case: network.name}, []column{
			{"first message ms", "ms", "%.0f", true}, {"HTTP bytes", "http", "%.0f", false}, {"requests", "requests", "%.0f", false},
			{"bytes in WebSocket frames", "frames", "%.0f", false}, {"WebSockets", "sockets", "%.0f", false},
		})
	}
	for _, f := range faults {
		r.table(w, "Death in mid-stream: "+f.title, result{Part: "death", Case: f.name}, []column{
			{"accepted", "accepted", "%.0f", false}, {"lost", "lost", "%.0f", false}, {"refused", "refused", "%.0f", false},
			{"of them came", "came", "%.0f", false}, {"repeated", "repeated", "%.0f", false}, {"out of order", "disorder", "%.0f", false},
			{"gap ms", "faultgap", "%.0f", false}, {"longest of all ms", "gap", "%.0f", false},
			{"noticed after ms", "noticed", "%.0f", false}, {"back after ms", "back", "%.0f", false},
			{"recovered", "recovered", "%.0f", false},
		})
	}
	r.printAims(w)
	for _, one := range r.results {
		if one.Part != "about" && one.Values == nil {
			fmt.Fprintf(w, "failed: %s of %s, round %d: %s\n", one.Part, one.Subject, one.Round, one.Text)
		}
	}
}

func (r *record) table(w io.Writer, title string, where result, columns []column) {
	who := r.measured(where)
	if len(who) == 0 {
		return
	}
	head := []string{title, "n"}
	for _, c := range columns {
		head = append(head, c.title)
		if c.ratio {
			head = append(head, "to bare")
		}
	}
	row(w, head)
	row(w, strings.Split(strings.Repeat("---,", len(head)-1)+"---", ","))
	for _, s := range who {
		where.Subject = s.name
		cells := []string{s.title, fmt.Sprint(len(r.of(where, columns[0].value)))}
		bare := where
		bare.Subject = s.bare
		for _, c := range columns {
			values := r.of(where, c.value)
			cells = append(cells, spread(c.format, values))
			if c.ratio {
				cells = append(cells, ratio(values, r.of(bare, c.value)))
			}
		}
		row(w, cells)
	}
	for _, s := range who {
		if where.Part != "speed" {
			break
		}
		where.Subject = s.name
		if share := r.of(where, "direct"); s.direct && len(share) > 0 && share[0] < 1 {
			fmt.Fprintf(w, "\n%s: in one round only %.1f %% went by the direct path.\n", s.title, 100*share[0])
		}
	}
	fmt.Fprintln(w)
}

func row(w io.Writer, cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }

func median(sorted []float64) float64 { return sorted[len(sorted)/2] }

// spread is "median (least-most)".
func spread(format string, sorted []float64) string {
	if len(sorted) == 0 {
		return "-"
	}
	said := fmt.Sprintf(format, median(sorted))
	if len(sorted) > 1 {
		said += fmt.Sprintf(" ("+format+"-"+format+")", sorted[0], sorted[len(sorted)-1])
	}
	return said
}

// ratio is that of two medians.
func ratio(sorted, bare []float64) string {
	if len(sorted) == 0 || len(bare) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", median(sorted)/median(bare))
}

//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
)

// table gathers the samples of each subject.
type table struct {
	names   []string
	samples map[string][]sample
}

func newTable() *table { return &table{samples: map[string][]sample{}} }

func (t *table) add(name string, s sample) {
	if t.samples[name] == nil {
		t.names = append(t.names, name)
	}
	t.samples[name] = append(t.samples[name], s)
}

// print prints medians, and how far the rounds lay apart.
func (t *table) print(w io.Writer) {
	fmt.Fprint(w, "| | there and back, 64 B: p50 ms | p99 ms |")
	for _, size := range sizes {
		fmt.Fprintf(w, " %d B: messages/s |", size)
	}
	fmt.Fprint(w, "\n|---|---|---|")
	for range sizes {
		fmt.Fprint(w, "---|")
	}
	fmt.Fprintln(w)
	for _, name := range t.names {
		samples := t.samples[name]
		fmt.Fprintf(w, "| %s | %s | %s |", name,
			spread("%.2f", samples, func(s sample) float64 { return s.p50 }),
			spread("%.2f", samples, func(s sample) float64 { return s.p99 }))
		for _, size := range sizes {
			fmt.Fprintf(w, " %s |", spread("%.0f", samples, func(s sample) float64 { return s.rate[size] }))
		}
		fmt.Fprintln(w)
	}
}

// spread is "median (least-most)".
func spread(format string, samples []sample, of func(sample) float64) string {
	var values []float64
	for _, s := range samples {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return fmt.Sprintf(format+" ("+format+"-"+format+")", values[len(values)/2], values[0], values[len(values)-1])
}

package soak

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// enough rounds have a median that says something.
const enough = 3

// grows compares the last third of the rounds with the first one after the warm-up, which is a quarter of them: the medians,
// for a single round may have caught anything. Where a third is of few rounds it asks only whether something doubled.
func grows(uses []Use) error {
	warm := uses[min(len(uses), max(1, len(uses)/4)):]
	third := len(warm) / 3
	if third == 0 {
		return nil // too short to say
	}
	early, late := warm[:third], warm[len(warm)-third:]
	share := 0.25
	if third < enough {
		share = 1
	}
	var wrong []error
	for _, of := range []struct {
		what string
		get  func(Use) float64
		more float64 // that it may grow by, beside its share
	}{
		{"bytes of heap", func(u Use) float64 { return float64(u.Heap) }, 4e6},
		{"objects", func(u Use) float64 { return float64(u.Objects) }, 20e3},
		{"goroutines", func(u Use) float64 { return float64(u.Goroutines) }, 60},
		{"UDP sockets", func(u Use) float64 { return float64(u.UDP) }, 10},
		{"connections to the node", func(u Use) float64 { return float64(u.Connections) }, 1},
	} {
		was, is := median(early, of.get), median(late, of.get)
		if is > was*(1+share)+of.more {
			wrong = append(wrong, fmt.Errorf("%s grew from %.0f to %.0f", of.what, was, is))
		}
	}
	return errors.Join(wrong...)
}

func median(uses []Use, get func(Use) float64) float64 {
	var all []float64
	for _, u := range uses {
		all = append(all, get(u))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// leftGoroutines are the stacks of goroutines of this module and of pion, once they had time to end.
func leftGoroutines() string {
	var left []string
	for range 100 {
		left = left[:0]
		stacks := make([]byte, 4<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, g := range strings.Split(string(stacks), "\n\n")[1:] { // the first is this one
			if strings.Contains(g, "github.com/pion/") || strings.Contains(g, "hyroute/host") || strings.Contains(g, "hyroute/p2p") ||
				strings.Contains(g, "hyroute/stubs") || strings.Contains(g, "hyroute/node") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return ""
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(left) > 5 {
		left = append(left[:5:5], fmt.Sprintf("and %d more", len(left)-5))
	}
	return strings.Join(left, "\n\n")
}

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"crypto/rand"

	"github.com/hyroute/hyroute/host"
)

// summary is what became of a stream.
type summary struct {
	To        string            `json:"to"`
	Sent      int               `json:"sent"`
	Delivered int               `json:"delivered"`
	Failed    int               `json:"failed"`
	Paths     map[host.Path]int `json:"paths"`
	MedianMs  float64           `json:"medianMs"`
	MaxMs     float64           `json:"maxMs"`
	Error     string            `json:"error,omitempty"` // the first
}

// stream sends numbers at a rate, and sums up what became of them.
func (s *sender) stream(ctx context.Context, r *host.Runtime, to string) error {
	name := rand.Text()
	begun := time.Now()
	sum := summary{To: to, Paths: map[host.Path]int{}}
	var sent []*host.Sent
	wake := time.NewTimer(0)
	defer wake.Stop()
	for n := 1; n <= s.count; n++ {
		// Each number has its own time, so that a late one does not make all that follow late.
		wake.Reset(time.Until(begun.Add(time.Duration(float64(n-1) / s.rate * float64(time.Second)))))
		select {
		case <-wake.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-r.Done():
		}
		value := map[string]any{"stream": name, "n": n, "at": now()}
		sent = append(sent, r.Post(host.Draft{To: to, Value: value, Lane: s.lane, Deadline: s.timeout}))
	}
	var took []float64
	var first error
	for _, m := range sent {
		sum.Sent++
		receipt, err := m.Wait(ctx)
		if err != nil {
			sum.Failed++
			if first == nil {
				first, sum.Error = err, err.Error()
			}
			continue
		}
		sum.Delivered++
		sum.Paths[receipt.Path]++
		took = append(took, float64(receipt.Took.Microseconds())/1000)
	}
	if slices.Sort(took); len(took) > 0 {
		sum.MedianMs, sum.MaxMs = took[len(took)/2], took[len(took)-1]
	}
	if s.json {
		if err := s.line(sum); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(s.command.OutOrStdout(), sum)
	}
	return first
}

// String is the summary for people.
func (s summary) String() string {
	var by []string
	for _, p := range slices.Sorted(maps.Keys(s.Paths)) {
		by = append(by, fmt.Sprintf("%d by the %s path", s.Paths[p], p))
	}
	text := fmt.Sprintf("%d of %d delivered", s.Delivered, s.Sent)
	if len(by) > 0 {
		text += " (" + strings.Join(by, ", ") + fmt.Sprintf("); half of them within %s, all within %s", inMillis(s.MedianMs), inMillis(s.MaxMs))
	}
	return text
}

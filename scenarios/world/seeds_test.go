package world

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seeds = flag.Int("seeds", 2000, "how many worlds TestSeeds plays")
	first = flag.Uint64("first", 1, "the first seed of TestSeeds")
	keep  = flag.String("keep", "../regress", "where TestSeeds keeps the plans that failed")
)

// shrinkTries bounds how long a failing seed shrinks.
const shrinkTries = 400

// TestSeeds plays worlds. Each is played twice, the second time with every machine restored from snapshot and journal now
// and then, and must give the same trace.
func TestSeeds(t *testing.T) {
	count := uint64(*seeds)
	if testing.Short() {
		count = min(count, 60)
	}
	start := time.Now()
	var next atomic.Uint64
	var steps, deliveries, failed atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				n := next.Add(1) - 1
				if n >= count || failed.Load() >= 5 {
					return
				}
				r := playSeed(t, *first+n)
				if r.Failure != nil {
					failed.Add(1)
				}
				steps.Add(int64(r.Steps))
				deliveries.Add(int64(r.Summary.Delivered))
			}
		})
	}
	workers.Wait()
	took := time.Since(start).Seconds()
	t.Logf("%d seeds twice in %.1f s: %.0f seeds/s, %d steps, %d deliveries", min(next.Load(), count), took, float64(min(next.Load(), count))/took, steps.Load(), deliveries.Load())
	if deliveries.Load() == 0 {
		t.Error("no message was ever delivered: these worlds show nothing")
	}
}

func playSeed(t *testing.T, seed uint64) Result {
	p := Generate(seed)
	r := Run(p, Linked(), nil)
	if r.Failure == nil {
		again := Linked()
		again.Every = 97
		s := Run(p, again, nil)
		switch {
		case s.Failure != nil:
			r.Failure = s.Failure
		case s.Hash != r.Hash:
			r.Failure = &Failure{Rule: "same-in-same-out", Text: "two runs of this plan, the second with restored machines, give different traces"}
		}
	}
	if r.Failure != nil {
		blame(t, p, r.Failure)
	}
	return r
}

// broken is the promise that a plan breaks, or none.
func broken(p *Plan) *Failure {
	r := Run(p, Linked(), nil)
	if r.Failure != nil {
		return r.Failure
	}
	again := Linked()
	again.Every = 97
	s := Run(p, again, nil)
	if s.Failure == nil && s.Hash != r.Hash {
		return &Failure{Rule: "same-in-same-out", Text: "two runs of this plan, the second with restored machines, give different traces"}
	}
	return s.Failure
}

// blame shrinks a failing plan, keeps it, and shows the end of its trace.
func blame(t *testing.T, p *Plan, f *Failure) {
	small := Shrink(p, shrinkTries, func(q *Plan) bool {
		g := broken(q)
		return g != nil && g.Rule == f.Rule
	})
	g := broken(small)
	if g == nil {
		g = f
	}
	name, err := Keep(*keep, small, g)
	if err != nil {
		t.Errorf("seed %d: %v", p.Seed, err)
	}
	var tail [][]byte
	Run(small, Linked(), func(step []byte) {
		tail = append(tail, bytes.Clone(step))
		if len(tail) > 12 {
			tail = tail[1:]
		}
	})
	t.Errorf("seed %d: %v\nshrunk from %d to %d actions, kept as %s\n%s\nlast steps:\n%s", p.Seed, g, len(p.Actions), len(small.Actions), name, small, bytes.Join(tail, []byte("\n")))
}

// TestRegress plays all plans that once failed.
func TestRegress(t *testing.T) {
	files, err := filepath.Glob("../regress/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := ParsePlan(string(b))
			if err != nil {
				t.Fatal(err)
			}
			if f := broken(p); f != nil {
				t.Error(f)
			}
		})
	}
}

package soak_test

import (
	"flag"
	"testing"
	"time"

	"github.com/hyroute/hyroute/e2e/soak"
)

var (
	minutes = flag.Float64("minutes", 0, "how long; 0: half a minute, or less in a short run")
	seed    = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the faults")
)

func TestSoak(t *testing.T) {
	o := soak.Options{For: 30 * time.Second, Seed: *seed, Folder: t.TempDir(), Say: t.Logf}
	if testing.Short() {
		o.For = 0
	}
	if *minutes > 0 {
		o.For = time.Duration(*minutes * float64(time.Minute))
	}
	t.Logf("-seed %d", *seed)
	report, err := soak.Run(t.Context(), o)
	t.Logf("faults %v, deliveries by path %v", report.Faults, report.Paths)
	if err != nil {
		t.Fatal(err)
	}
	if report.Paths["direct"] == 0 || report.Paths["relay"] == 0 {
		t.Errorf("one path was never used: %v", report.Paths)
	}
}

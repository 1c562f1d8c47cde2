package host

import (
	"testing"

	"github.com/hyroute/hyroute/stubs/stubtest"
)

// noGoroutines fails if a goroutine of these packages is left.
func noGoroutines(t *testing.T, packages ...string) {
	t.Helper()
	stubtest.NoGoroutines(t, packages...)
}

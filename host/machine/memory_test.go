//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package machine

import (
	"runtime"
	"testing"
)

func TestMemoryGrowsInPlaceAndGoes(t *testing.T) {
	for name, memory := range map[string]interface {
		Reallocate(uint64) []byte
		Free()
	}{"mapped": reserve(0, 1<<24), "heap": &grown{}} {
		b := memory.Reallocate(1 << 16)
		b[0], b[1<<16-1] = 1, 2
		b = memory.Reallocate(1 << 20)
		if len(b) != 1<<20 || b[0] != 1 || b[1<<16-1] != 2 || b[1<<16] != 0 || b[1<<20-1] != 0 {
			t.Errorf("%s: growing lost something", name)
		}
		if name == "mapped" && memory.Reallocate(1<<24+1) != nil {
			t.Errorf("grew above the limit")
		}
		memory.Free()
		memory.Free()
	}
}

// TestInstancesWeighNothingOnTheHeap: what is reserved for a module must not keep the collector of this program from its work.
func TestInstancesWeighNothingOnTheHeap(t *testing.T) {
	var before, after runtime.MemStats
	moduleMachine(t, Options{}) // compiled code and the like
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 3 {
		moduleMachine(t, Options{})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 3<<20 {
		t.Errorf("three machines take %d KiB of the heap", grown>>10)
	}
}

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package machine

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// withMemory lets instances take their memory from the operating system, outside of this program's heap: there a reserved
// 512 MiB would count as live, so that the collector would rest until as much garbage has gathered, and a new instance
// would have to wait until they are zeroed (0.2 s measured).
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(reserve))
}

// mapped is memory whose pages cost nothing before they are touched, and which never moves.
type mapped struct {
	all []byte
}

// reserve gives memory that can grow up to size. Where the system grants no such reservation, the heap has to do.
func reserve(_, size uint64) experimental.LinearMemory {
	all, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return &grown{}
	}
	return &mapped{all: all}
}

func (m *mapped) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size]
}

func (m *mapped) Free() {
	if m.all != nil {
		// What was mapped can be unmapped; there is nobody to tell of a failure, and nothing to do about it.
		_ = syscall.Munmap(m.all)
		m.all = nil
	}
}

// grown is memory on the heap.
type grown struct{ all []byte }

func (g *grown) Reallocate(size uint64) []byte {
	if size > uint64(cap(g.all)) {
		g.all = append(make([]byte, 0, max(size, 2*uint64(cap(g.all)))), g.all...)
	}
	g.all = g.all[:size]
	return g.all
}

func (g *grown) Free() { g.all = nil }

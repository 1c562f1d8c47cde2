//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package machine

import "context"

// withMemory leaves the memory of instances on this program's heap.
func withMemory(ctx context.Context) context.Context { return ctx }

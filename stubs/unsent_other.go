//go:build !linux && !darwin

package stubs

import "syscall"

// limitUnsent does nothing: this system has no such limit.
func limitUnsent(_, _ string, _ syscall.RawConn) error { return nil }

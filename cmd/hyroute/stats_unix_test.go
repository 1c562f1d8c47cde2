//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
)

func init() {
	askToPrintStats = func(t *testing.T) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
	}
}

//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// askedForStats says when somebody wants to know what was counted: kill -USR1. stop ends it.
func askedForStats() (asked <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }
}

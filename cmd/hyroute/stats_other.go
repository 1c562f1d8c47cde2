//go:build !unix

package main

import "os"

// askedForStats: there is no signal for that here.
func askedForStats() (asked <-chan os.Signal, stop func()) { return nil, func() {} }

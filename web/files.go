//go:build !release

// Package web gives the command the page and its files. They are inside the program only where it is built with the tag
// release, as `make dist` does; without it a fresh clone compiles before anything of it is built.
package web

import "io/fs"

// Files are the page and its files, or nil where they are not inside this program.
func Files() fs.FS { return nil }

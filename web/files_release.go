//go:build release

// Package web gives the command the page and its files. They are inside the program only where it is built with the tag
// release, as `make dist` does; without it a fresh clone compiles before anything of it is built.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist/*.html dist/*.css dist/*.js dist/*.wasm dist/*.br
var embedded embed.FS

// Files are the page and its files, or nil where they are not inside this program.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "dist")
	if err != nil {
		panic(err) // the name is right, as it stands above
	}
	return files
}

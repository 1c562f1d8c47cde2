//go:build !wasip1

// Command wasm is hyroute.wasm: the machine behind the exports that ABI.md describes. On any other platform than wasip1 it
// only says so.
package main

import "os"

func main() {
	os.Stderr.WriteString("this program is a WebAssembly module: build it with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared\n")
	os.Exit(2)
}

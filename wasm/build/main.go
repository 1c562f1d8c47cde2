// Command build makes hyroute.wasm as it ships.
//
//	go run ./wasm/build bin/hyroute.wasm
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hyroute/hyroute/wasm/module"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: build FILE")
		os.Exit(2)
	}
	if err := build(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n", err)
		os.Exit(1)
	}
}

func build(out string) error {
	wasm, larger, err := module.Build()
	if err != nil {
		return err
	}
	if larger != nil {
		fmt.Fprintf(os.Stderr, "build: the module is larger than it could be: %v\n", larger)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(out, wasm, 0o644)
}

// Command build makes hyroute.wasm as it ships.
//
//	go run ./wasm/build [-tags LIST] bin/hyroute.wasm
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hyroute/hyroute/wasm/module"
)

func main() {
	tags := flag.String("tags", "", "build tags, with commas between them")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: build [-tags LIST] FILE")
		os.Exit(2)
	}
	if err := build(flag.Arg(0), *tags); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n", err)
		os.Exit(1)
	}
}

func build(out, tags string) error {
	wasm, larger, err := module.Build(tags)
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

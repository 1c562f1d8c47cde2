// Command wasm is hyroute.wasm: the machine behind the exports that ABI.md describes. It is a reactor: a body calls
// _initialize once, and main never.
package main

import _ "github.com/hyroute/hyroute/wasm/exports"

func main() {
	println("this is a module for WebAssembly: GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared ./wasm")
}

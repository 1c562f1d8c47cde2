// Command wasm is hyroute.wasm: the machine behind the exports that ABI.md describes.
package main

import (
	"unsafe"

	"github.com/hyroute/hyroute/wasm/door"
)

// main is not run: the module is a reactor.
func main() {}

var (
	port     door.Port
	reserved []byte
)

//go:wasmexport abi_version
func abiVersion() int32 { return door.Version }

// reserve lets the memory grow once, now, instead of bit by bit in mid traffic: what is allocated here and let go is where
// the machine's tables go later.
//
//go:wasmexport reserve
func reserve(mib int32) {
	reserved = make([]byte, int(min(max(mib, 0), door.MaxReserve))<<20)
	reserved = nil
}

//go:wasmexport input
func input(size int32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(port.Input(size))) }

//go:wasmexport open
func open(size int32) int32 { return port.Open(size) }

//go:wasmexport step
func step(size int32) int32 { return port.Step(size) }

//go:wasmexport snapshot
func snapshot() int32 { return port.Snapshot() }

//go:wasmexport restore
func restore(size int32) int32 { return port.Restore(size) }

//go:wasmexport output
func output() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(port.Output())) }

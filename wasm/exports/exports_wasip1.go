package exports

import (
	"unsafe"

	"github.com/hyroute/hyroute/wasm/door"
)

var port door.Port

// ABIVersion is the version of the contract.
//
//go:wasmexport abi_version
func ABIVersion() int32 { return door.Version }

// Reserve grows the memory.
//
//go:wasmexport reserve
func Reserve(mib int32) { port.Reserve(mib) }

// Input is where the body puts the next input, nil if size is out of range.
//
//go:wasmexport input
func Input(size int32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(port.Input(size))) }

// Open makes the machine.
//
//go:wasmexport open
func Open(size int32) int32 { return port.Open(size) }

// Step steps the machine.
//
//go:wasmexport step
func Step(size int32) int32 { return port.Step(size) }

// StepPacked steps the machine, in the packed form.
//
//go:wasmexport step_packed
func StepPacked(size int32) int32 { return port.StepPacked(size) }

// Snapshot gives the machine's whole state.
//
//go:wasmexport snapshot
func Snapshot() int32 { return port.Snapshot() }

// Restore makes the machine from a snapshot.
//
//go:wasmexport restore
func Restore(size int32) int32 { return port.Restore(size) }

// Output is where the last call put its output.
//
//go:wasmexport output
func Output() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(port.Output())) }

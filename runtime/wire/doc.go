// Package wire is the text form of events and effects, both ways: one line an event or an effect, as wasm/ABI.md fixes it.
//
// Every value has exactly one form. What this package writes it reads back as the same value, and what it takes it would
// have written byte for byte, addresses excepted: those are put in canonical form. A line in any other form is refused with
// an *Error that names line, verb and key. The field list of each type stands once, in events.go and effects.go, and serves
// writer and reader.
package wire

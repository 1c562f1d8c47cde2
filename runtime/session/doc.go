// Package session carries messages between two runtimes once and in order, over carriers that come, go and lie.
//
// A Table holds the sessions of one runtime. Correctness rests on numbered chunks and two cumulative acknowledgements
// alone (rules.go, receive.go, numbering.go); carriers only decide where to send next (carrier.go, pump.go). The words are
// those of the session's specification: incarnation, chunk, seen, done, tombstone, continues.
//
// The Table does no I/O and has no clock. Payload bytes stay with the body; here a message is a number and a size.
package session

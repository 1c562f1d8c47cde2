// Package frame is the one codec of what travels in binary: the relay envelope between a runtime and its Message Node, and
// the session frame between two runtimes (docs/protocol.md sections 4 and 5).
//
// Nothing here keeps state or allocates for payload: a session frame is a header that this package reads and writes, and
// payload bytes that only the bodies touch.
package frame

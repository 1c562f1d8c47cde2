// Package stubs holds what a stub is, and the stub of a Message Node: one WebSocket to the node of one domain, with its
// signed open, its questions to registry and subscription manager, and the relay envelope (docs/protocol.md sections 2-4).
//
// A stub moves bytes and reports what it sees. It decides nothing: when to connect again, what to send by which stub and
// what an answer means is the machine's. The conformance suite for any stub is package stubs/stubtest.
package stubs

// Package identity is how a runtime names itself and proves it (docs/protocol.md sections 1, 2 and 7).
//
// A runtime's id is the fingerprint of its Ed25519 public key. Whoever holds the key can open that runtime at a Message
// Node and sign its signals; nobody else can, the node included. A signed text begins with what it is for, and its parts
// can not hold the line feed that stands between them, the last one excepted: so one signature never fits two meanings.
package identity

// Package message holds the two forms of a message: the JSON envelope between a runtime and its Message Node (docs/protocol.md
// section 2), and the content that a session carries (section 6).
//
// Both readers take bytes of a stranger: they are strict, bounded, never panic, and say which field is wrong. Bodies are
// not taken apart, only proven to be what they say they are.
package message

// Package node is the Message Node: runtimes meet here over WebSocket (docs/protocol.md sections 2 to 4).
//
// It passes on JSON messages by their address and session frames by their handle, keeps the Domain Registry, and serves
// the catalogue and the page. It never looks into a session frame, and keeps nothing for a socket that is gone.
package node

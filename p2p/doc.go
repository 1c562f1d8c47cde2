// Package p2p is the peer stub: a WebRTC data channel to another runtime (routing document, steps 18-22), and the signed
// signals that set it up through the Message Node (docs/protocol.md section 7).
//
// One Endpoint stands for one runtime. It verifies what comes in, keeps offers and candidates until the machine says what
// to do with them, and makes stubs. It decides nothing: whether to invite, accept or give up is the machine's, and so is
// whether a path is alive. A path that was silent for a while may come back, so the stub does not give up on it soon.
package p2p

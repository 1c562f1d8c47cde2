//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
)

// opcodes reads what a client says on a WebSocket, in whatever pieces it comes, and tells the kinds of its frames
// (RFC 6455 section 5.2). Payloads are passed over.
type opcodes struct {
	begun bool // the request of the upgrade is over
	head  []byte
	skip  uint64 // bytes of payload that are still to come
}

const binaryFrame = 2

var endOfRequest = []byte("\r\n\r\n")

// read takes the next piece, and returns the opcodes of the frames whose heads end in it.
func (o *opcodes) read(piece []byte) (found []byte) {
	if !o.begun {
		o.head = append(o.head, piece...)
		_, rest, ok := bytes.Cut(o.head, endOfRequest)
		if !ok {
			return nil
		}
		o.begun, o.head, piece = true, nil, bytes.Clone(rest)
	}
	for len(piece) > 0 {
		if o.skip > 0 {
			n := min(o.skip, uint64(len(piece)))
			o.skip -= n
			piece = piece[n:]
			continue
		}
		o.head = append(o.head, piece[0])
		piece = piece[1:]
		if size, ok := payload(o.head); ok {
			found = append(found, o.head[0]&0x0f)
			o.skip, o.head = size, o.head[:0]
		}
	}
	return found
}

// payload is how much follows a head, once the head is whole.
func payload(head []byte) (size uint64, whole bool) {
	if len(head) < 2 {
		return 0, false
	}
	extra := map[byte]int{126: 2, 127: 8}[head[1]&0x7f]
	mask := 0
	if head[1]&0x80 != 0 {
		mask = 4
	}
	if len(head) < 2+extra+mask {
		return 0, false
	}
	switch extra {
	case 2:
		return uint64(binary.BigEndian.Uint16(head[2:])), true
	case 8:
		return binary.BigEndian.Uint64(head[2:]), true
	}
	return uint64(head[1] & 0x7f), true
}

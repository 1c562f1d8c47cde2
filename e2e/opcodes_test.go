//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// masked is a frame of a client.
func masked(opcode byte, size int) []byte {
	head := []byte{0x80 | opcode}
	switch {
	case size < 126:
		head = append(head, 0x80|byte(size))
	case size < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(size))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), uint64(size))
	}
	return append(head, bytes.Repeat([]byte{0x82}, 4+size)...)
}

func TestOpcodesInAnyPieces(t *testing.T) {
	said := []byte("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n")
	want := []byte{1, 2, 8, 2, 1}
	for i, size := range []int{0, 125, 126, 70_000, 3} {
		said = append(said, masked(want[i], size)...)
	}
	for _, step := range []int{1, 2, 3, 7, 41, 44, 1000, len(said)} {
		var o opcodes
		var got []byte
		for from := 0; from < len(said); from += step {
			got = append(got, o.read(said[from:min(from+step, len(said))])...)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("in pieces of %d: %v, not %v", step, got, want)
		}
	}
}

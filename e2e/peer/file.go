package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/hyroute/hyroute/host"
)

// file is a message of bytes.
type file struct {
	To       string
	Number   int // decides what the bytes are
	Size     int
	Lane     string
	Deadline int // ms; 0: the default
}

// file sends so many bytes, and returns when that is settled.
func (e *end) file(f file) error {
	bytes := filling(f.Number, f.Size)
	e.send(nameOf(e.address(), bytes), host.Draft{To: f.To, Value: bytes, Lane: f.Lane, Deadline: time.Duration(f.Deadline) * time.Millisecond})()
	return nil
}

// filling makes bytes that no compression and no repetition makes smaller: xorshift32, seeded by a number, as the page does.
func filling(number, size int) []byte {
	bytes := make([]byte, (size+3)/4*4)
	x := uint32(number+1) * 2654435761
	for i := 0; i < len(bytes); i += 4 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		binary.LittleEndian.PutUint32(bytes[i:], x)
	}
	return bytes[:size]
}

// nameOf is the name of a message of bytes, which say nothing of themselves: its sender, and the first half of their SHA-256.
func nameOf(from string, bytes []byte) string {
	digest := sha256.Sum256(bytes)
	return from + "#" + hex.EncodeToString(digest[:16])
}

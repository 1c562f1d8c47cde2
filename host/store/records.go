package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	magic      = "hyroute1"
	headerSize = 12
	// maxRecord is the longest record: a base holds the contents of all messages that wait.
	maxRecord = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// DamageError says that a file can not be read, and where. What stands before is sound, but what comes after was shown to
// others and is lost: the state must not be used.
type DamageError struct {
	File   string
	Offset int64
	Reason string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("store: %s is damaged at byte %d: %s", e.File, e.Offset, e.Reason)
}

// appendRecord writes a record whose payload is these parts, one after the other.
func appendRecord(b []byte, parts ...[]byte) []byte {
	at := len(b)
	b = append(b, make([]byte, headerSize)...)
	for _, p := range parts {
		b = append(b, p...)
	}
	header, payload := b[at:at+headerSize], b[at+headerSize:]
	binary.BigEndian.PutUint32(header, uint32(len(payload)))
	binary.BigEndian.PutUint32(header[4:], crc32.Checksum(payload, castagnoli))
	binary.BigEndian.PutUint32(header[8:], crc32.Checksum(header[:8], castagnoli))
	return b
}

// readRecords gives the payloads of a file, and how many of its bytes they take. What follows these is the torn end of a
// record that was being written when the process or the machine died: nothing of it was shown to anybody.
func readRecords(name string, b []byte) (records [][]byte, whole int64, err error) {
	damaged := func(at int, reason string) error { return &DamageError{name, int64(at), reason} }
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return nil, 0, damaged(0, "it does not begin as a state does")
	}
	at := len(magic)
	for at < len(b) {
		rest := b[at:]
		if len(rest) < headerSize {
			break
		}
		size := uint64(binary.BigEndian.Uint32(rest))
		if binary.BigEndian.Uint32(rest[8:]) != crc32.Checksum(rest[:8], castagnoli) || size > maxRecord {
			// After a loss of power a file may be longer than what was written, with zeros for the rest.
			if zero(rest[headerSize:]) {
				break
			}
			return nil, 0, damaged(at, "the header of a record is wrong")
		}
		if uint64(len(rest)-headerSize) < size {
			break
		}
		payload := rest[headerSize : headerSize+size]
		if binary.BigEndian.Uint32(rest[4:]) != crc32.Checksum(payload, castagnoli) {
			if zero(rest[headerSize+size:]) {
				break
			}
			return nil, 0, damaged(at, fmt.Sprintf("the checksum of a record of %d bytes is wrong", size))
		}
		records = append(records, payload)
		at += headerSize + int(size)
	}
	if len(records) == 0 {
		return nil, 0, damaged(at, "the state that it begins with is not whole")
	}
	return records, int64(at), nil
}

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

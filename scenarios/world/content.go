package world

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// minContent is the smallest content of a message: it begins with the message's identity.
const minContent = 8

// identity names a message of the whole history: who posted it, in which life, under which number.
type identity struct {
	body byte
	life uint16
	msg  uint32
}

func (i identity) String() string {
	return strconv.Itoa(int(i.body)) + "." + strconv.Itoa(int(i.life)) + "." + strconv.FormatUint(uint64(i.msg), 10)
}

// content is the body of a message: its identity, and then bytes that nobody else has in these places, so that a slice cut
// or put together wrongly is seen.
func content(id identity, size int) []byte {
	b := make([]byte, max(size, minContent))
	binary.BigEndian.PutUint64(b, uint64(0xc0)<<56|uint64(id.body)<<48|uint64(id.life)<<32|uint64(id.msg))
	x := uint64(id.msg)*0x9e3779b97f4a7c15 + uint64(id.body)<<32 + uint64(id.life)
	for i := minContent; i < len(b); i++ {
		if i%8 == 0 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		b[i] = byte(x >> (8 * (i % 8)))
	}
	return b
}

// identify reads the identity of a content and says whether every byte of it is as it was posted.
func identify(b []byte) (id identity, whole bool) {
	if len(b) < minContent || b[0] != 0xc0 {
		return identity{}, false
	}
	v := binary.BigEndian.Uint64(b)
	id = identity{byte(v >> 48), uint16(v >> 32), uint32(v)}
	return id, bytes.Equal(b, content(id, len(b)))
}

package frame

import (
	"encoding/binary"
	"errors"
)

var (
	errShort   = errors.New("frame: header ends too early")
	errLong    = errors.New("frame: bytes left over after the header")
	errFlags   = errors.New("frame: unknown flags")
	errPayload = errors.New("frame: payload and lengths differ")
	errNumber  = errors.New("frame: a number is out of range")
)

// Read reads a header from head, its length field included; payload is how many bytes follow it in the frame. A header
// that can not be read whole, with unknown flags, or with lengths that do not fit the payload, is an error.
func Read(head []byte, payload int) (Header, error) {
	if n := HeadSize(head); n == 0 || n != len(head) {
		return Header{}, errShort
	}
	if payload < 0 {
		return Header{}, errPayload
	}
	_, n := Varint(head)
	r := reader{b: head[n:]}
	h, err := r.header(payload)
	if r.wrong != nil {
		return Header{}, r.wrong
	}
	if err != nil {
		return Header{}, err
	}
	if len(r.b) > 0 {
		return Header{}, errLong
	}
	return h, nil
}

// reader takes values from the front of b; after the first that is not whole or out of range, wrong is set and all values
// are zero.
type reader struct {
	b     []byte
	wrong error
}

func (r *reader) fail(why error) {
	if r.wrong == nil {
		r.wrong = why
	}
	r.b = nil
}

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.fail(errShort)
	}
	if r.wrong != nil {
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (r *reader) varint() uint64 {
	v, n := Varint(r.b)
	if n == 0 {
		r.fail(errShort)
		return 0
	}
	r.take(n)
	return v
}

func (r *reader) string(limit int) string {
	n := r.varint()
	if n > uint64(limit) {
		r.fail(errNumber)
		return ""
	}
	return string(r.take(int(n)))
}

func (r *reader) header(payload int) (h Header, err error) {
	flags := r.u8()
	if flags&0xc0 != flagVersion || flags&1 != 0 || flags&flagRun != 0 && flags&flagChunk == 0 {
		return h, errFlags
	}
	if h.Long = flags&flagLong != 0; h.Long {
		h.Hello = r.hello()
	} else {
		h.Tag = r.u32()
	}
	h.Done = r.varint()
	h.Seen = h.Done + r.varint()
	if h.Seen > MaxVarint {
		return h, errNumber
	}
	if flags&flagPing != 0 {
		if h.Ping = r.u32(); h.Ping == 0 {
			r.fail(errNumber)
		}
	}
	if flags&flagPong != 0 {
		if h.Pong = r.u32(); h.Pong == 0 {
			r.fail(errNumber)
		}
	}
	if flags&flagChunk != 0 {
		err = r.chunks(&h, flags&flagRun != 0, payload)
	}
	return h, err
}

func (r *reader) hello() (h Hello) {
	h.Src, h.Dst, h.Have = r.u64(), r.u64(), r.u64()
	h.Base = r.varint()
	count := int(r.u8())
	if count > MaxContinues || h.Src == 0 {
		r.fail(errNumber)
		return h
	}
	for range count {
		c := Continue{Inc: r.u64()}
		c.Fork = r.varint()
		h.Continues = append(h.Continues, c)
	}
	h.Set = r.u8()
	if h.Set == 0 || h.Set > 3 {
		r.fail(errNumber)
	}
	h.Lane = r.string(MaxLane)
	h.Window, h.Largest, h.Features = r.varint(), r.varint(), r.varint()
	return h
}

func (r *reader) chunks(h *Header, run bool, payload int) error {
	h.First = r.varint()
	count := uint64(1)
	if run {
		count = r.varint()
	}
	// A descriptor takes at least one byte.
	if count == 0 || count > uint64(len(r.b)) {
		return errShort
	}
	if h.First == 0 || h.First > MaxVarint-count {
		return errNumber
	}
	h.Chunks = make([]Chunk, 0, count)
	left := payload
	for range count {
		c := Chunk{Flags: ChunkFlags(r.u8())}
		if !c.Flags.valid() {
			return errFlags
		}
		if c.Flags&Def != 0 {
			c.Flow = r.varint()
			c.From, c.To = r.string(MaxHeader), r.string(MaxHeader)
		}
		if c.Flags&Refuse != 0 {
			c.Inc, c.Number, c.Code = r.u64(), r.varint(), r.u8()
		}
		if c.Flags&Begin != 0 {
			c.Flow = r.varint()
		}
		if c.Flags.HasPayload() {
			size := uint64(left)
			if run {
				size = r.varint()
			}
			if size > uint64(left) {
				return errPayload
			}
			c.Length = int(size)
			left -= c.Length
		}
		h.Chunks = append(h.Chunks, c)
	}
	if left != 0 {
		return errPayload
	}
	return nil
}

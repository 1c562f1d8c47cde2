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
func Read(head []byte, payload int) (h Header, err error) {
	if err = h.Read(head, payload); err != nil {
		return Header{}, err
	}
	return h, nil
}

// Read is the same into h, whose Chunks are used again. After an error h holds nothing of use.
func (h *Header) Read(head []byte, payload int) error {
	*h = Header{Chunks: h.Chunks[:0]}
	if n := HeadSize(head); n == 0 || n != len(head) {
		return errShort
	}
	if payload < 0 {
		return errPayload
	}
	_, n := Varint(head)
	r := reader{b: head, at: n}
	err := r.header(h, payload)
	switch {
	case r.wrong != nil:
		return r.wrong
	case err != nil:
		return err
	case r.at < len(r.b):
		return errLong
	}
	return nil
}

// reader takes values from b; after the first that is not whole or out of range, wrong is set and all values
// are zero. It counts where it is, for to cut b would be to write a pointer with each value, which is dear while the collector is at work.
type reader struct {
	b     []byte
	at    int
	wrong error
}

func (r *reader) fail(why error) {
	if r.wrong == nil {
		r.wrong = why
	}
	r.at = len(r.b)
}

func (r *reader) take(n int) []byte {
	if len(r.b)-r.at < n {
		r.fail(errShort)
	}
	if r.wrong != nil {
		return nil
	}
	b := r.b[r.at : r.at+n]
	r.at += n
	return b
}

func (r *reader) u8() byte {
	if r.at >= len(r.b) {
		r.fail(errShort)
		return 0
	}
	c := r.b[r.at]
	r.at++
	return c
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
	if r.at < len(r.b) && r.b[r.at] < 1<<6 {
		r.at++
		return uint64(r.b[r.at-1])
	}
	v, n := Varint(r.b[r.at:])
	if n == 0 {
		r.fail(errShort)
		return 0
	}
	r.at += n
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

func (r *reader) header(h *Header, payload int) error {
	flags := r.u8()
	if flags&0xc0 != flagVersion || flags&1 != 0 || flags&flagRun != 0 && flags&flagChunk == 0 {
		return errFlags
	}
	if h.Long = flags&flagLong != 0; h.Long {
		h.Hello = r.hello()
	} else {
		h.Tag = r.u32()
	}
	h.Done = r.varint()
	h.Seen = h.Done + r.varint()
	if h.Seen > MaxVarint {
		return errNumber
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
		return r.chunks(h, flags&flagRun != 0, payload)
	}
	return nil
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

// clear makes c the zero Chunk. Its strings are rarely set, and to write them anyhow costs more than to look.
func (c *Chunk) clear() {
	if c.From != "" || c.To != "" {
		c.From, c.To = "", ""
	}
	c.Flags, c.Flow, c.Inc, c.Number, c.Code, c.Length = 0, 0, 0, 0, 0, 0
}

func (r *reader) chunks(h *Header, run bool, payload int) error {
	h.First = r.varint()
	count := uint64(1)
	if run {
		count = r.varint()
	}
	// A descriptor takes at least one byte.
	if count == 0 || count > uint64(len(r.b)-r.at) {
		return errShort
	}
	if h.First == 0 || h.First > MaxVarint-count {
		return errNumber
	}
	if uint64(cap(h.Chunks)) < count {
		h.Chunks = make([]Chunk, count)
	}
	h.Chunks = h.Chunks[:count]
	left := payload
	for i := range h.Chunks {
		c := &h.Chunks[i]
		c.clear()
		c.Flags = ChunkFlags(r.u8())
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
	}
	if left != 0 {
		return errPayload
	}
	return nil
}

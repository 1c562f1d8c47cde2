package strip

import (
	"encoding/binary"
	"errors"
)

// module is a WebAssembly module whose data are laid out as they will lie in memory.
type module struct {
	before, after []byte // all other sections
	image         []byte
}

const (
	dataSection = 11
	// maxImage is more than any module here has; an offset beyond it is a mistake.
	maxImage = 64 << 20
	// gap is the run of zeros that ends a segment, for memory is zero where nothing is put. The linker ends one at the first 8:
	// the heads of many segments in the midst of tables break what a compressor sees in them (40 KB in brotli). A larger gap
	// than this saves nothing more.
	gap = 64
)

var errModule = errors.New("not a module, or one with passive data")

func read(b []byte) (*module, error) {
	if len(b) < 8 || string(b[:8]) != "\x00asm\x01\x00\x00\x00" {
		return nil, errModule
	}
	r := reader{b: b[8:]}
	for len(r.b) > 0 {
		start := len(b) - len(r.b)
		id := r.byte()
		body := r.take(r.number())
		if r.failed {
			return nil, errModule
		}
		if id == dataSection {
			m := &module{before: b[:start], after: r.b}
			return m, m.lay(reader{b: body})
		}
	}
	return nil, errors.New("the module has no data")
}

// lay puts all segments where they belong.
func (m *module) lay(r reader) error {
	for left := r.number(); left > 0 && !r.failed; left-- {
		kind, instruction := r.byte(), r.byte()
		offset := r.signed()
		end := r.byte()
		data := r.take(r.number())
		if r.failed || kind != 0 || instruction != constant || end != endOfCode || offset < 0 || offset+int64(len(data)) > maxImage {
			return errModule
		}
		if grown := int(offset) + len(data) - len(m.image); grown > 0 {
			m.image = append(m.image, make([]byte, grown)...)
		}
		copy(m.image[offset:], data)
	}
	if r.failed || len(r.b) > 0 {
		return errModule
	}
	return nil
}

// The two instructions that say where a segment goes.
const (
	constant  = 0x41
	endOfCode = 0x0b
)

// bytes is the module as a file.
func (m *module) bytes() []byte {
	var segments []byte
	count := 0
	for at := 0; at < len(m.image); {
		if m.image[at] == 0 {
			at++
			continue
		}
		end := at + 1
		for i := end; i < len(m.image) && i-end < gap; i++ {
			if m.image[i] != 0 {
				end = i + 1
			}
		}
		segments = appendSigned(append(segments, 0, constant), int64(at))
		segments = binary.AppendUvarint(append(segments, endOfCode), uint64(end-at))
		segments = append(segments, m.image[at:end]...)
		count++
		at = end
	}
	head := binary.AppendUvarint(nil, uint64(count))
	out := append([]byte(nil), m.before...)
	out = binary.AppendUvarint(append(out, dataSection), uint64(len(head)+len(segments)))
	out = append(append(out, head...), segments...)
	return append(out, m.after...)
}

// appendSigned appends v in base 128, with its sign (LEB128).
func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// reader takes from the front of b. Once something is missing, failed is set and all that it gives is zero.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.failed = nil, true
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) > 0 {
		return b[0]
	}
	return 0
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.failed = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) signed() int64 {
	v := int64(0)
	for shift := 0; shift < 63; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.b, r.failed = nil, true
	return 0
}

package wire

import (
	"bytes"
	"strconv"

	"github.com/hyroute/hyroute/runtime/address"
)

// mode is what a walk over the field list of a type is for.
type mode uint8

const (
	writing mode = iota
	reading
	asking // does the list have the key that is asked for?
)

// fields walks over the field list of one type, writing or reading. The methods below are called once per field, in the
// order in which the keys stand on the line.
type fields struct {
	mode mode
	out  []byte // writing: what has been written

	rest      []byte // reading: what follows the fields read so far, each with its space in front
	key       string // reading: of the fault; asking: asked for
	code      Code   // reading: what is wrong; nothing is read any more once it is set
	why       string
	known     bool // asking: the answer
	addresses *addresses
}

func (f *fields) verb(v string) {
	if f.mode == writing {
		f.out = append(f.out, v...)
	}
}

func (f *fields) writeKey(key string) {
	f.out = append(f.out, ' ')
	f.out = append(f.out, key...)
	f.out = append(f.out, '=')
}

// take gives the value of key if it comes next. It is not called while writing.
func (f *fields) take(key string) (raw []byte, ok bool) {
	if f.mode == asking {
		f.known = f.known || key == f.key
		return nil, false
	}
	rest, n := f.rest, len(key)
	if f.code != "" || len(rest) < n+2 || rest[n+1] != '=' || rest[0] != ' ' || string(rest[1:n+1]) != key {
		return nil, false
	}
	rest = rest[n+2:]
	end := bytes.IndexByte(rest, ' ')
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		f.fail(key, BadValue, "empty: leave the key out")
		return nil, false
	}
	f.rest = rest[end:]
	return rest[:end], true
}

func (f *fields) fail(key string, code Code, why string) {
	f.key, f.code, f.why = key, code, why
}

// check fails unless why is empty.
func (f *fields) check(key, why string) bool {
	if why != "" {
		f.fail(key, BadValue, why)
	}
	return why == ""
}

// number is a decimal number; zero is left out.
func (f *fields) number(key string, v *uint64) {
	if f.mode == writing {
		if *v != 0 {
			f.writeKey(key)
			f.out = strconv.AppendUint(f.out, *v, 10)
		}
		return
	}
	if raw, ok := f.take(key); ok {
		*v = f.readNonZero(key, raw, MaxNumber)
	}
}

func (f *fields) readNonZero(key string, raw []byte, limit uint64) uint64 {
	v, why := readNumber(raw, limit)
	if f.check(key, why) && v == 0 {
		f.fail(key, BadValue, "zero: leave the key out")
	}
	return v
}

// count is a number that the program holds as an int.
func (f *fields) count(key string, v *int) {
	if f.mode == writing {
		n := uint64(*v)
		f.number(key, &n)
		return
	}
	if raw, ok := f.take(key); ok {
		*v = int(f.readNonZero(key, raw, min(MaxNumber, uint64(^uint(0)>>1))))
	}
}

// always is a number that is written even if it is zero.
func (f *fields) always(key string, v *uint64) {
	if f.mode == writing {
		f.writeKey(key)
		f.out = strconv.AppendUint(f.out, *v, 10)
		return
	}
	if raw, ok := f.take(key); ok {
		var why string
		*v, why = readNumber(raw, MaxNumber)
		f.check(key, why)
		return
	}
	f.missing(key)
}

func (f *fields) missing(key string) {
	if f.mode == reading && f.code == "" {
		f.fail(key, MissingKey, "missing, or not in its place")
	}
}

// flag is 1 or left out.
func (f *fields) flag(key string, v *bool) {
	if f.mode == writing {
		if *v {
			f.writeKey(key)
			f.out = append(f.out, '1')
		}
		return
	}
	if raw, ok := f.take(key); ok {
		*v = string(raw) == "1"
		if !*v {
			f.fail(key, BadValue, "a flag is 1, or left out")
		}
	}
}

// text is any text; the empty one is left out.
func (f *fields) text(key string, v *string) {
	if f.mode == writing {
		if *v != "" {
			f.writeKey(key)
			f.out = appendText(f.out, *v, false)
		}
		return
	}
	if raw, ok := f.take(key); ok {
		s, why := readText(raw, false)
		f.check(key, why)
		*v = s
	}
}

// word is one of a few words, held as its place among them. It is always written; a value beyond them is not, so that the
// reader says what is missing.
func (f *fields) word(key string, v *uint8, words []string) {
	if f.mode == writing {
		if int(*v) < len(words) {
			f.writeKey(key)
			f.out = append(f.out, words[*v]...)
		}
		return
	}
	raw, ok := f.take(key)
	if !ok {
		f.missing(key)
		return
	}
	for i, w := range words {
		if string(raw) == w {
			*v = uint8(i)
			return
		}
	}
	why := excerpt(raw) + " is none of"
	for _, w := range words {
		why += " " + w
	}
	f.fail(key, BadValue, why)
}

// bits is a number of 64 random bits, in 16 hex digits; zero is left out.
func (f *fields) bits(key string, v *uint64) {
	if f.mode == writing {
		if *v != 0 {
			f.writeKey(key)
			for shift := 60; shift >= 0; shift -= 4 {
				f.out = append(f.out, lowerHex[*v>>shift&15])
			}
		}
		return
	}
	raw, ok := f.take(key)
	if !ok {
		return
	}
	if len(raw) != 16 {
		f.fail(key, BadValue, "64 bits are 16 hex digits")
		return
	}
	var space [8]byte
	data, why := readHex(space[:0], raw)
	if !f.check(key, why) {
		return
	}
	*v = 0
	for _, c := range data {
		*v = *v<<8 | uint64(c)
	}
	if *v == 0 {
		f.fail(key, BadValue, "zero: leave the key out")
	}
}

// bytes is lower-case hex; no bytes are left out.
func (f *fields) bytes(key string, v *[]byte) {
	if f.mode == writing {
		if len(*v) != 0 {
			f.writeKey(key)
			f.out = appendHex(f.out, *v)
		}
		return
	}
	if raw, ok := f.take(key); ok {
		data, why := readHex(make([]byte, 0, len(raw)/2), raw)
		f.check(key, why)
		*v = data
	}
}

// address is the canonical form; the zero Address is left out.
func (f *fields) address(key string, v *address.Address) {
	if f.mode == writing {
		if !v.IsZero() {
			f.writeKey(key)
			f.out = appendText(f.out, v.String(), false)
		}
		return
	}
	if raw, ok := f.take(key); ok {
		*v = f.readAddress(key, raw, false)
	}
}

func (f *fields) readAddress(key string, raw []byte, inList bool) address.Address {
	slot := f.addresses.slot(raw)
	if slot.raw != "" && slot.raw == string(raw) && slot.inList == inList {
		return slot.address
	}
	s, why := readText(raw, inList)
	if !f.check(key, why) {
		return address.Address{}
	}
	a, err := address.Parse(s)
	if err != nil {
		f.fail(key, BadAddress, err.Error())
		return address.Address{}
	}
	*slot = parsed{raw: string(raw), inList: inList, address: a}
	return a
}

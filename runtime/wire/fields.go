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
// order in which the keys stand on the line. Each asks begin whether there is a value to write or to read: the module is paid
// for by the kilobyte, so what they share stands there once.
type fields struct {
	mode mode
	out  []byte // writing: what has been written

	rest      []byte // reading: what follows the fields read so far, each with its space in front
	raw       []byte // reading: the value that is read now, or what is left of a list
	key       string // reading: of the value; asking: asked for
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

// begin says whether the method of a field has something to do: to append the value to out, for which the key has been
// written, or to read raw. A value that is empty is not written.
func (f *fields) begin(key string, empty bool) bool {
	switch f.mode {
	case writing:
		if !empty {
			f.out = append(f.out, ' ')
			f.out = append(f.out, key...)
			f.out = append(f.out, '=')
		}
		return !empty
	case asking:
		f.known = f.known || key == f.key
		return false
	}
	rest, n := f.rest, len(key)
	if f.code != "" || len(rest) < n+2 || rest[n+1] != '=' || rest[0] != ' ' || string(rest[1:n+1]) != key {
		return false
	}
	rest = rest[n+2:]
	end := bytes.IndexByte(rest, ' ')
	if end < 0 {
		end = len(rest)
	}
	f.key, f.raw, f.rest = key, rest[:end], rest[end:]
	if end == 0 {
		f.fail(BadValue, "empty: leave the key out")
	}
	return end > 0
}

// require is begin for a field that is always there.
func (f *fields) require(key string) bool {
	if f.begin(key, false) {
		return true
	}
	if f.mode == reading && f.code == "" {
		f.key = key
		f.fail(MissingKey, "missing, or not in its place")
	}
	return false
}

// fail notes what is wrong with the value that is read.
func (f *fields) fail(code Code, why string) {
	if why != "" {
		f.code, f.why = code, why
	}
}

func (f *fields) putNumber(v uint64) { f.out = strconv.AppendUint(f.out, v, 10) }

func (f *fields) getNumber(raw []byte, limit uint64) uint64 {
	v, why := readNumber(raw, limit)
	f.fail(BadValue, why)
	return v
}

// notZero fails for a value that would have been left out.
func (f *fields) notZero(zero bool) {
	if zero && f.code == "" {
		f.fail(BadValue, "zero: leave the key out")
	}
}

// number is a decimal number; zero is left out.
func (f *fields) number(key string, v *uint64) {
	if !f.begin(key, *v == 0) {
		return
	}
	if f.mode == writing {
		f.putNumber(*v)
		return
	}
	*v = f.getNumber(f.raw, MaxNumber)
	f.notZero(*v == 0)
}

// time is a number of milliseconds; zero is left out. A time after the last that a line can name is written as that one: both
// never come.
func (f *fields) time(key string, v *uint64) {
	if f.mode == writing && *v > MaxNumber {
		last := uint64(MaxNumber)
		v = &last
	}
	f.number(key, v)
}

// count is a number that the program holds as an int.
func (f *fields) count(key string, v *int) {
	n := uint64(*v)
	f.number(key, &n)
	if f.mode != reading {
		return // what is written may be shared: nothing is stored to it
	}
	if n > maxInt {
		n = 0
		f.fail(BadValue, excerpt(f.raw)+" is too large")
	}
	*v = int(n)
}

// maxInt is the largest int: less than MaxNumber where an int has 32 bits.
const maxInt = uint64(^uint(0) >> 1)

// always is a number that is written even if it is zero.
func (f *fields) always(key string, v *uint64) {
	if !f.require(key) {
		return
	}
	if f.mode == writing {
		f.putNumber(*v)
		return
	}
	*v = f.getNumber(f.raw, MaxNumber)
}

// flag is 1 or left out.
func (f *fields) flag(key string, v *bool) {
	if f.begin(key, !*v) && f.only("1") {
		*v = true
	}
}

// only writes the one word that a value can be, or says whether it was read.
func (f *fields) only(word string) bool {
	if f.mode == writing {
		f.out = append(f.out, word...)
		return false
	}
	if string(f.raw) != word {
		f.fail(BadValue, "if it is not left out, it is "+word)
	}
	return f.code == ""
}

// text is any text; the empty one is left out.
func (f *fields) text(key string, v *string) {
	if !f.begin(key, *v == "") {
		return
	}
	if f.mode == writing {
		f.out = appendText(f.out, *v, false)
		return
	}
	*v = f.getText(f.raw, false)
}

func (f *fields) getText(raw []byte, inList bool) string {
	s, why := readText(raw, inList)
	f.fail(BadValue, why)
	return s
}

// word is one of a few words, held as its place among them. It is always written; a value beyond them is not, so that the
// reader says what is missing.
func (f *fields) word(key string, v *uint8, words []string) {
	if f.mode == writing && int(*v) >= len(words) || !f.require(key) {
		return
	}
	if f.mode == writing {
		f.out = append(f.out, words[*v]...)
		return
	}
	why := excerpt(f.raw) + " is none of"
	for i, w := range words {
		if string(f.raw) == w {
			*v = uint8(i)
			return
		}
		why += " " + w
	}
	f.fail(BadValue, why)
}

// bits is a number of 64 random bits, in 16 hex digits; zero is left out.
func (f *fields) bits(key string, v *uint64) {
	if !f.begin(key, *v == 0) {
		return
	}
	var space [8]byte
	if f.mode == writing {
		for i := range space {
			space[i] = byte(*v >> (56 - 8*i))
		}
		f.out = appendHex(f.out, space[:])
		return
	}
	if len(f.raw) != 16 {
		f.fail(BadValue, "64 bits are 16 hex digits")
		return
	}
	for _, c := range f.getHex(space[:0]) {
		*v = *v<<8 | uint64(c)
	}
	f.notZero(*v == 0)
}

func (f *fields) getHex(b []byte) []byte {
	data, why := readHex(b, f.raw)
	f.fail(BadValue, why)
	return data
}

// bytes is lower-case hex; no bytes are left out.
func (f *fields) bytes(key string, v *[]byte) {
	if !f.begin(key, len(*v) == 0) {
		return
	}
	if f.mode == writing {
		f.out = appendHex(f.out, *v)
		return
	}
	*v = f.getHex(make([]byte, 0, len(f.raw)/2))
}

// address is the canonical form; the zero Address is left out.
func (f *fields) address(key string, v *address.Address) {
	if !f.begin(key, v.IsZero()) {
		return
	}
	if f.mode == writing {
		f.out = appendText(f.out, v.String(), false)
		return
	}
	*v = f.getAddress(f.raw, false)
}

func (f *fields) getAddress(raw []byte, inList bool) address.Address {
	slot := f.addresses.slot(raw)
	if slot.raw != "" && slot.raw == string(raw) && slot.inList == inList {
		return slot.address
	}
	s := f.getText(raw, inList)
	if f.code != "" {
		return address.Address{}
	}
	a, err := address.Parse(s)
	if err != nil {
		f.fail(BadAddress, err.Error())
		return address.Address{}
	}
	*slot = parsed{raw: string(raw), inList: inList, address: a}
	return a
}

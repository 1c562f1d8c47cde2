// Package snapshot writes the machine's state as bytes and reads it back. One function a type does both, so that writer and
// reader can not disagree.
package snapshot

import (
	"errors"

	"github.com/hyroute/hyroute/runtime/address"
)

// Codec writes or reads, one value after the other. After the first error all reads give zero values.
type Codec struct {
	b       []byte
	reading bool
	err     error
}

// Writer is a codec that writes.
func Writer() *Codec { return &Codec{} }

// Reader is a codec that reads b.
func Reader(b []byte) *Codec { return &Codec{b: b, reading: true} }

// Reading says which way it goes.
func (c *Codec) Reading() bool { return c.reading }

// Bytes is what was written.
func (c *Codec) Bytes() []byte { return c.b }

// Err is the first error, or that bytes were left over; it is asked for at the end.
func (c *Codec) Err() error {
	if c.err == nil && c.reading && len(c.b) > 0 {
		return errors.New("snapshot: bytes left over")
	}
	return c.err
}

// Fail makes the codec give err.
//
//go:noinline
func (c *Codec) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.b = nil
}

// Uint64 is a number in base 128, low groups first.
func (c *Codec) Uint64(v *uint64) {
	if !c.reading {
		x := *v
		for x >= 0x80 {
			c.b = append(c.b, byte(x)|0x80)
			x >>= 7
		}
		c.b = append(c.b, byte(x))
		return
	}
	*v = 0
	for shift := uint(0); ; shift += 7 {
		if len(c.b) == 0 || shift > 63 {
			c.Fail(errors.New("snapshot: cut short"))
			*v = 0
			return
		}
		x := c.b[0]
		c.b = c.b[1:]
		*v |= uint64(x&0x7f) << shift
		if x < 0x80 {
			return
		}
	}
}

// Uint32 is a smaller number.
//
//go:noinline
func (c *Codec) Uint32(v *uint32) {
	x := uint64(*v)
	c.Uint64(&x)
	*v = uint32(x)
}

// Byte is one of 256.
//
//go:noinline
func (c *Codec) Byte(v *uint8) {
	x := uint64(*v)
	c.Uint64(&x)
	*v = uint8(x)
}

// Int is a number that is not negative.
//
//go:noinline
func (c *Codec) Int(v *int) {
	x := uint64(*v)
	c.Uint64(&x)
	*v = int(x)
}

// Bool is a flag.
//
//go:noinline
func (c *Codec) Bool(v *bool) {
	var x uint64
	if *v {
		x = 1
	}
	c.Uint64(&x)
	*v = x != 0
}

// String is text.
func (c *Codec) String(v *string) {
	n := c.Length(len(*v))
	if !c.reading {
		c.b = append(c.b, *v...)
		return
	}
	*v = string(c.b[:n])
	c.b = c.b[n:]
}

// Address is an address or none.
func (c *Codec) Address(v *address.Address) {
	s := v.String()
	c.String(&s)
	if !c.reading {
		return
	}
	*v = address.Address{}
	if s != "" {
		a, err := address.Parse(s)
		if err != nil {
			c.Fail(err)
		}
		*v = a
	}
}

// Length writes n, or reads how many elements follow. Every element takes at least one byte, so a length that the bytes
// can not hold is an error and gives 0.
func (c *Codec) Length(n int) int {
	x := uint64(n)
	c.Uint64(&x)
	if c.reading && x > uint64(len(c.b)) {
		c.Fail(errors.New("snapshot: a length is too large"))
		return 0
	}
	return int(x)
}

// Slice writes or reads a slice, element by element.
func Slice[T any](c *Codec, v *[]T, each func(*T)) {
	n := c.Length(len(*v))
	if c.reading {
		*v = nil
		if n > 0 {
			*v = make([]T, n)
		}
	}
	for i := range *v {
		each(&(*v)[i])
	}
}

const sealSize = 8

// sum is FNV-1a-64.
func sum(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// Seal puts a check sum behind b: what is restored may have lain on a disk for long.
func Seal(b []byte) []byte {
	h := sum(b)
	for i := range sealSize {
		b = append(b, byte(h>>(8*i)))
	}
	return b
}

// Unseal takes the check sum off again. It fails for bytes that Seal did not give, or that were changed since.
func Unseal(b []byte) ([]byte, error) {
	n := len(b) - sealSize
	if n < 0 {
		return nil, errors.New("snapshot: cut short")
	}
	h := sum(b[:n])
	for i, c := range b[n:] {
		if c != byte(h>>(8*i)) {
			return nil, errors.New("snapshot: damaged")
		}
	}
	return b[:n], nil
}

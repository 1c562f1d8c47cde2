package wire

import (
	"bytes"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

var (
	comma = []byte{','}
	colon = []byte{':'}
)

// Items of a list are separated by commas; a list without items is left out.

// separate stands in front of item i when a list is written.
func (f *fields) separate(i int) {
	if i > 0 {
		f.out = append(f.out, ',')
	}
}

// item cuts the next item off a list that is read. ok is false at its end, and after a fault.
func (f *fields) item() (item []byte, ok bool) {
	if f.raw == nil || f.code != "" {
		return nil, false
	}
	item, rest, more := bytes.Cut(f.raw, comma)
	f.raw = rest
	if !more {
		f.raw = nil
	}
	if len(item) == 0 {
		f.fail(BadValue, "an empty item in the list")
	}
	return item, len(item) > 0
}

func (f *fields) addressList(key string, v *[]address.Address) {
	if !f.begin(key, len(*v) == 0) {
		return
	}
	if f.mode == writing {
		for i, a := range *v {
			f.separate(i)
			f.out = appendText(f.out, a.String(), true)
		}
		return
	}
	for item, ok := f.item(); ok; item, ok = f.item() {
		*v = append(*v, f.getAddress(item, true))
	}
}

func (f *fields) textList(key string, v *[]string) {
	if !f.begin(key, len(*v) == 0) {
		return
	}
	if f.mode == writing {
		for i, s := range *v {
			f.separate(i)
			f.out = appendText(f.out, s, true)
		}
		return
	}
	for item, ok := f.item(); ok; item, ok = f.item() {
		*v = append(*v, f.getText(item, true))
	}
}

// steps are small numbers.
func (f *fields) steps(key string, v *[]uint8) {
	if !f.begin(key, len(*v) == 0) {
		return
	}
	if f.mode == writing {
		for i, n := range *v {
			f.separate(i)
			f.putNumber(uint64(n))
		}
		return
	}
	for item, ok := f.item(); ok; item, ok = f.item() {
		*v = append(*v, uint8(f.getNumber(item, 255)))
	}
}

// parts are msg:offset:length.
func (f *fields) parts(key string, v *[]engine.Part) {
	if !f.begin(key, len(*v) == 0) {
		return
	}
	if f.mode == writing {
		for i, p := range *v {
			f.separate(i)
			f.putNumber(p.Msg)
			f.out = append(f.out, ':')
			f.putNumber(uint64(p.Offset))
			f.out = append(f.out, ':')
			f.putNumber(uint64(p.Length))
		}
		return
	}
	for item, ok := f.item(); ok; item, ok = f.item() {
		*v = append(*v, f.getPart(item))
	}
}

func (f *fields) getPart(item []byte) engine.Part {
	msg, rest, ok := bytes.Cut(item, colon)
	offset, length, ok2 := bytes.Cut(rest, colon)
	if !ok || !ok2 {
		f.fail(BadValue, excerpt(item)+" is not msg:offset:length")
		return engine.Part{}
	}
	limit := min(MaxNumber, maxInt)
	return engine.Part{
		Msg:    f.getNumber(msg, MaxNumber),
		Offset: int(f.getNumber(offset, limit)),
		Length: int(f.getNumber(length, limit)),
	}
}

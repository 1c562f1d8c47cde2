package wire

import (
	"bytes"
	"strconv"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// list starts a list of so many items. It says whether there is anything to write.
func (f *fields) list(key string, items int) bool {
	if items > 0 {
		f.writeKey(key)
	}
	return items > 0
}

func (f *fields) comma(i int) {
	if i > 0 {
		f.out = append(f.out, ',')
	}
}

// item cuts the first item off a list.
func (f *fields) item(key string, raw []byte) (item, rest []byte, more bool) {
	item, rest, more = bytes.Cut(raw, comma)
	if len(item) == 0 {
		f.fail(key, BadValue, "an empty item in the list")
	}
	return item, rest, more
}

var (
	comma = []byte{','}
	colon = []byte{':'}
)

func (f *fields) addressList(key string, v *[]address.Address) {
	if f.mode == writing {
		if f.list(key, len(*v)) {
			for i, a := range *v {
				f.comma(i)
				f.out = appendText(f.out, a.String(), true)
			}
		}
		return
	}
	raw, more := f.take(key)
	for more && f.code == "" {
		var item []byte
		if item, raw, more = f.item(key, raw); f.code == "" {
			*v = append(*v, f.readAddress(key, item, true))
		}
	}
}

func (f *fields) textList(key string, v *[]string) {
	if f.mode == writing {
		if f.list(key, len(*v)) {
			for i, s := range *v {
				f.comma(i)
				f.out = appendText(f.out, s, true)
			}
		}
		return
	}
	raw, more := f.take(key)
	for more && f.code == "" {
		var item []byte
		if item, raw, more = f.item(key, raw); f.code == "" {
			s, why := readText(item, true)
			f.check(key, why)
			*v = append(*v, s)
		}
	}
}

// steps are small numbers.
func (f *fields) steps(key string, v *[]uint8) {
	if f.mode == writing {
		if f.list(key, len(*v)) {
			for i, n := range *v {
				f.comma(i)
				f.out = strconv.AppendUint(f.out, uint64(n), 10)
			}
		}
		return
	}
	raw, more := f.take(key)
	for more && f.code == "" {
		var item []byte
		if item, raw, more = f.item(key, raw); f.code == "" {
			n, why := readNumber(item, 255)
			f.check(key, why)
			*v = append(*v, uint8(n))
		}
	}
}

// parts are msg:offset:length.
func (f *fields) parts(key string, v *[]engine.Part) {
	if f.mode == writing {
		if f.list(key, len(*v)) {
			for i, p := range *v {
				f.comma(i)
				f.out = strconv.AppendUint(f.out, p.Msg, 10)
				f.out = strconv.AppendUint(append(f.out, ':'), uint64(p.Offset), 10)
				f.out = strconv.AppendUint(append(f.out, ':'), uint64(p.Length), 10)
			}
		}
		return
	}
	raw, more := f.take(key)
	for more && f.code == "" {
		var item []byte
		if item, raw, more = f.item(key, raw); f.code == "" {
			*v = append(*v, f.readPart(key, item))
		}
	}
}

func (f *fields) readPart(key string, item []byte) engine.Part {
	msg, rest, ok := bytes.Cut(item, colon)
	offset, length, ok2 := bytes.Cut(rest, colon)
	if !ok || !ok2 {
		f.fail(key, BadValue, excerpt(item)+" is not msg:offset:length")
		return engine.Part{}
	}
	var n [3]uint64
	for i, raw := range [...][]byte{msg, offset, length} {
		limit := uint64(MaxNumber)
		if i > 0 {
			limit = min(limit, uint64(^uint(0)>>1))
		}
		var why string
		if n[i], why = readNumber(raw, limit); !f.check(key, why) {
			return engine.Part{}
		}
	}
	return engine.Part{Msg: n[0], Offset: int(n[1]), Length: int(n[2])}
}

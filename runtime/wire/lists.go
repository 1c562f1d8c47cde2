package wire

import (
	"bytes"
	"strconv"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// list is items separated by commas; no items are left out. write appends item i, read takes one to the end of the list.
func (f *fields) list(key string, items int, write func(i int), read func(item []byte)) {
	if f.mode == writing {
		for i := range items {
			if i == 0 {
				f.writeKey(key)
			} else {
				f.out = append(f.out, ',')
			}
			write(i)
		}
		return
	}
	rest, more := f.take(key)
	for more && f.code == "" {
		var item []byte
		if item, rest, more = bytes.Cut(rest, comma); len(item) == 0 {
			f.fail(key, BadValue, "an empty item in the list")
			return
		}
		read(item)
	}
}

var (
	comma = []byte{','}
	colon = []byte{':'}
)

func (f *fields) addressList(key string, v *[]address.Address) {
	f.list(key, len(*v),
		func(i int) { f.out = appendText(f.out, (*v)[i].String(), true) },
		func(item []byte) { *v = append(*v, f.readAddress(key, item, true)) })
}

func (f *fields) textList(key string, v *[]string) {
	f.list(key, len(*v),
		func(i int) { f.out = appendText(f.out, (*v)[i], true) },
		func(item []byte) {
			s, why := readText(item, true)
			f.check(key, why)
			*v = append(*v, s)
		})
}

// steps are small numbers.
func (f *fields) steps(key string, v *[]uint8) {
	f.list(key, len(*v),
		func(i int) { f.out = strconv.AppendUint(f.out, uint64((*v)[i]), 10) },
		func(item []byte) {
			n, why := readNumber(item, 255)
			f.check(key, why)
			*v = append(*v, uint8(n))
		})
}

// parts are msg:offset:length.
func (f *fields) parts(key string, v *[]engine.Part) {
	f.list(key, len(*v),
		func(i int) {
			p := (*v)[i]
			f.out = strconv.AppendUint(f.out, p.Msg, 10)
			f.out = strconv.AppendUint(append(f.out, ':'), uint64(p.Offset), 10)
			f.out = strconv.AppendUint(append(f.out, ':'), uint64(p.Length), 10)
		},
		func(item []byte) { *v = append(*v, f.readPart(key, item)) })
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

package frame

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

// headers are every kind of header, with their bytes written out by hand.
var headers = []struct {
	name    string
	header  Header
	payload int
	hex     string
}{
	{"shortest", Header{Tag: 0x01020304}, 0, "07 40 01020304 00 00"},
	{"padding", Header{Tag: 1}, 1200, "07 40 00000001 00 00"},
	{"acknowledgements", Header{Tag: 1, Done: 64, Seen: 128}, 0, "09 40 00000001 4040 4040"},
	{"ping and pong", Header{Tag: 1, Ping: 0xa0b0c0d0, Pong: 1}, 5, "0f 4c 00000001 00 00 a0b0c0d0 00000001"},
	{"one chunk", Header{Tag: 1, First: 7, Chunks: []Chunk{{Flags: Begin | End, Flow: 2, Length: 200}}}, 200, "0a 50 00000001 00 00 07 03 02"},
	{"middle of a message", Header{Tag: 1, First: 16384, Chunks: []Chunk{{Length: 16000}}}, 16000, "0c 50 00000001 00 00 80004000 00"},
	{"empty chunk", Header{Tag: 1, First: 7, Chunks: []Chunk{{Flags: End}}}, 0, "09 50 00000001 00 00 07 02"},
	{"tomb", Header{Tag: 1, First: 7, Chunks: []Chunk{{Flags: Tomb}}}, 0, "09 50 00000001 00 00 07 04"},
	{"tomb of a whole message", Header{Tag: 1, First: 7, Chunks: []Chunk{{Flags: Tomb | Begin | End, Flow: 3}}}, 0, "0a 50 00000001 00 00 07 07 03"},
	{"definition", Header{Tag: 1, First: 1, Chunks: []Chunk{{Flags: Def, Flow: 63, From: "a", To: "bc"}}}, 0, "0f 50 00000001 00 00 01 08 3f 01 61 02 6263"},
	{"refusal", Header{Tag: 1, First: 9, Chunks: []Chunk{{Flags: Refuse, Inc: 0x1122334455667788, Number: 65, Code: 4}}}, 0,
		"14 50 00000001 00 00 09 20 1122334455667788 4041 04"},
	{"run", Header{Tag: 1, First: 5, Chunks: []Chunk{
		{Flags: Def, Flow: 0, From: "", To: "x"}, {Flags: Begin | End, Flow: 0, Length: 64}, {Flags: Tomb}, {Flags: Begin, Flow: 1}, {Flags: Refuse, Inc: 1, Number: 2, Code: 1},
	}}, 64, "21 52 00000001 00 00 05 05 08 00 00 01 78 03 00 4040 04 01 01 00 20 0000000000000001 02 01"},
	{"hello", Header{Long: true, Hello: Hello{
		Src: 0x0102030405060708, Dst: 2, Have: 3, Base: 4, Continues: []Continue{{Inc: 5, Fork: 6}, {Inc: 7, Fork: 64}}, Set: 3, Lane: "x", Window: 64, Largest: 16384, Features: 1,
	}, Done: 1, Seen: 2, Ping: 9}, 0,
		"3e 68 0102030405060708 0000000000000002 0000000000000003 04 02 0000000000000005 06 0000000000000007 4040 03 01 78 4040 80004000 01 01 01 00000009"},
	{"least hello", Header{Long: true, Hello: Hello{Src: 1, Set: 1}}, 0, "22 60 0000000000000001 0000000000000000 0000000000000000 00 00 01 00 00 00 00 00 00"},
}

func bytesOf(t testing.TB, s string) []byte {
	t.Helper()
	return unhex(t, strings.ReplaceAll(s, " ", ""))
}

func TestHeaders(t *testing.T) {
	for _, test := range headers {
		want := bytesOf(t, test.hex)
		got, err := test.header.Append([]byte{0xee})
		if err != nil || hex.EncodeToString(got[1:]) != hex.EncodeToString(want) || got[0] != 0xee {
			t.Errorf("%s: appended %x, %v, want %x", test.name, got, err, want)
			continue
		}
		h, err := Read(want, test.payload)
		if err != nil || !reflect.DeepEqual(h, test.header) {
			t.Errorf("%s: read %+v, %v, want %+v", test.name, h, err, test.header)
		}
		if n := HeadSize(append(want, 1, 2, 3)); n != len(want) {
			t.Errorf("%s: head of %d bytes, not %d", test.name, n, len(want))
		}
		for i := range want {
			if n := HeadSize(want[:i]); n != 0 {
				t.Errorf("%s: %d of %d bytes are a head of %d", test.name, i, len(want), n)
			}
			// The same cut, with a length that fits it: whatever is left must be missed.
			if i > 0 {
				if h, err := Read(append([]byte{byte(i - 1)}, want[1:i]...), test.payload); err == nil {
					t.Errorf("%s: the first %d bytes are read as %+v", test.name, i, h)
				}
			}
		}
		if len(want) < 64 {
			longer := append(append([]byte{}, want...), 0)
			longer[0]++
			if h, err := Read(longer, test.payload); err == nil && len(h.Chunks) == len(test.header.Chunks) {
				t.Errorf("%s: read with a byte too many: %+v", test.name, h)
			}
		}
	}
}

// usedHeader has something in every place.
func usedHeader() Header {
	all := Chunk{Flags: Def, Flow: 1, From: "from", To: "to", Inc: 2, Number: 3, Code: 4, Length: 5}
	return Header{
		Long: true, Tag: 6, Hello: Hello{Src: 7, Continues: []Continue{{8, 9}}, Lane: "lane"}, Done: 10, Seen: 11, Ping: 12, Pong: 13, First: 14,
		Chunks: []Chunk{all, all, all, all, all, all},
	}
}

func alike(a, b *Header) bool {
	x, y := *a, *b
	if len(x.Chunks) == 0 && len(y.Chunks) == 0 {
		x.Chunks, y.Chunks = nil, nil
	}
	return reflect.DeepEqual(x, y)
}

func TestReadOverAnotherHeader(t *testing.T) {
	for _, test := range headers {
		h := usedHeader()
		if err := h.Read(bytesOf(t, test.hex), test.payload); err != nil || !alike(&h, &test.header) {
			t.Errorf("%s: read %+v, %v, want %+v", test.name, h, err, test.header)
		}
	}
}

func TestShortFramesAreReadAndWrittenWithoutAllocation(t *testing.T) {
	want := Header{Tag: 1, Done: 70, Seen: 90, First: 5}
	for range 100 {
		want.Chunks = append(want.Chunks, Chunk{Flags: Begin | End, Flow: 2, Length: 200})
	}
	var h Header
	var b []byte
	round := func() {
		var err error
		if b, err = want.Append(b[:0]); err != nil {
			t.Fatal(err)
		}
		if err := h.Read(b, 20_000); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !alike(&h, &want) {
		t.Errorf("read %+v", h)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		hex     string
		payload int
		want    error
	}{
		{"nothing", "", 0, errShort},
		{"empty header", "00", 0, errShort},
		{"longer than it says", "07 40 01020304 00 00 00", 0, errShort},
		{"shorter than it says", "08 40 01020304 00 00", 0, errShort},
		{"header of 4097 bytes", "5001" + strings.Repeat("00", 4097), 0, errShort},
		{"version 0", "07 00 01020304 00 00", 0, errFlags},
		{"version 2", "07 80 01020304 00 00", 0, errFlags},
		{"version 3", "07 c0 01020304 00 00", 0, errFlags},
		{"bit 0", "07 41 01020304 00 00", 0, errFlags},
		{"run without chunk", "07 42 01020304 00 00", 0, errFlags},
		{"bytes left over", "08 40 01020304 00 00 00", 0, errLong},
		{"seen is too large", "15 40 01020304 ffffffffffffffff ffffffffffffffff", 0, errNumber},
		{"ping 0", "0b 48 01020304 00 00 00000000", 0, errNumber},
		{"pong 0", "0b 44 01020304 00 00 00000000", 0, errNumber},
		{"chunk number 0", "09 50 01020304 00 00 00 00", 0, errNumber},
		{"chunk number too large", "10 50 01020304 00 00 ffffffffffffffff 00", 0, errNumber},
		{"run of none", "09 52 01020304 00 00 01 00", 0, errShort},
		{"run of more than there is", "0b 52 01020304 00 00 01 03 04 04", 0, errShort},
		{"run of 2^62-1", "11 52 01020304 00 00 01 ffffffffffffffff 04", 0, errShort},
		{"chunk flag 4", "09 50 01020304 00 00 01 10", 0, errFlags},
		{"chunk flag 6", "09 50 01020304 00 00 01 40", 0, errFlags},
		{"chunk flag 7", "09 50 01020304 00 00 01 80", 0, errFlags},
		{"definition that begins", "0c 50 01020304 00 00 01 09 00 00 00", 0, errFlags},
		{"refusal that ends", "13 50 01020304 00 00 01 22 0000000000000001 01 01", 0, errFlags},
		{"payload of a tomb", "09 50 01020304 00 00 01 04", 1, errPayload},
		{"payload of a definition", "0c 50 01020304 00 00 01 08 00 00 00", 1, errPayload},
		{"run with too little payload", "0d 52 01020304 00 00 01 02 00 05 00 05", 9, errPayload},
		{"run with too much payload", "0d 52 01020304 00 00 01 02 00 05 00 05", 11, errPayload},
		{"payload of less than nothing", "09 50 01020304 00 00 01 02", -1, errPayload},
		{"length of 2^62-1", "13 52 01020304 00 00 01 02 00 ffffffffffffffff 04", 9, errPayload},
		{"address longer than a header", "0e 50 01020304 00 00 01 08 00 5001 00 00", 0, errNumber},
		{"address longer than what is left", "0d 50 01020304 00 00 01 08 00 00 05 61", 0, errShort},
		{"hello of nobody", "22 60 0000000000000000 0000000000000000 0000000000000000 00 00 01 00 00 00 00 00 00", 0, errNumber},
		{"hello of no carrier", "22 60 0000000000000001 0000000000000000 0000000000000000 00 00 00 00 00 00 00 00 00", 0, errNumber},
		{"hello of unknown carriers", "22 60 0000000000000001 0000000000000000 0000000000000000 00 00 04 00 00 00 00 00 00", 0, errNumber},
		{"hello that continues nine", "22 60 0000000000000001 0000000000000000 0000000000000000 00 09 01 00 00 00 00 00 00", 0, errNumber},
		{"hello with a long lane", "24 60 0000000000000001 0000000000000000 0000000000000000 00 00 01 4041 00 00 00 00 0000", 0, errNumber},
	} {
		h, err := Read(bytesOf(t, test.hex), test.payload)
		if err != test.want || !reflect.DeepEqual(h, Header{}) {
			t.Errorf("%s: %+v, %v, want %v", test.name, h, err, test.want)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	chunk := func(c Chunk) Header { return Header{First: 1, Chunks: []Chunk{c}} }
	hello := func(change func(*Hello)) Header {
		h := Header{Long: true, Hello: Hello{Src: 1, Set: 1}}
		change(&h.Hello)
		return h
	}
	for name, h := range map[string]Header{
		"seen before done":     {Done: 2, Seen: 1},
		"seen is too large":    {Seen: MaxVarint + 1},
		"number 0":             {Chunks: []Chunk{{}}},
		"number is too large":  {First: MaxVarint, Chunks: []Chunk{{}}},
		"unknown flags":        chunk(Chunk{Flags: 1 << 4}),
		"flags that fight":     chunk(Chunk{Flags: Def | Refuse}),
		"flow is too large":    chunk(Chunk{Flags: Begin, Flow: MaxVarint + 1}),
		"refusal is too large": chunk(Chunk{Flags: Refuse, Number: MaxVarint + 1}),
		"negative length":      chunk(Chunk{Length: -1}),
		"payload of a tomb":    chunk(Chunk{Flags: Tomb, Length: 1}),
		"too long":             chunk(Chunk{Flags: Def, From: strings.Repeat("x", MaxHeader)}),
		"hello of nobody":      hello(func(h *Hello) { h.Src = 0 }),
		"hello of no carrier":  hello(func(h *Hello) { h.Set = 0 }),
		"hello of carrier 4":   hello(func(h *Hello) { h.Set = 4 }),
		"hello continues nine": hello(func(h *Hello) { h.Continues = make([]Continue, MaxContinues+1) }),
		"hello with a lane":    hello(func(h *Hello) { h.Lane = strings.Repeat("x", MaxLane+1) }),
		"hello with a base":    hello(func(h *Hello) { h.Base = MaxVarint + 1 }),
		"hello with a fork":    hello(func(h *Hello) { h.Continues = []Continue{{1, MaxVarint + 1}} }),
	} {
		if b, err := h.Append([]byte("x")); err == nil || string(b) != "x" {
			t.Errorf("%s: appended %x", name, b)
		}
	}
}

// Size is what session frames are filled by: it must be right to the byte.
func TestChunkSize(t *testing.T) {
	long := strings.Repeat("x", 64)
	for _, c := range []Chunk{
		{}, {Length: 63}, {Length: 64}, {Length: 16384}, {Flags: Begin, Flow: 64}, {Flags: Tomb}, {Flags: Tomb | Begin, Flow: 1},
		{Flags: Def, Flow: 1}, {Flags: Def, From: "a", To: long}, {Flags: Def, From: long + long, To: strings.Repeat("y", 300)},
		{Flags: Refuse, Number: 1 << 40, Code: 3},
	} {
		if got := len(c.append(nil, true)); got != c.Size() {
			t.Errorf("%+v takes %d bytes, Size says %d", c, got, c.Size())
		}
	}
}

func TestTag(t *testing.T) {
	// FNV-1a-32 of 16 zero bytes and of 1, 2 as big-endian numbers, computed apart from this code.
	for _, test := range []struct {
		src, dst uint64
		want     uint32
	}{{0, 0, 0x69691905}, {1, 2, 0x462054ec}} {
		if got := Tag(test.src, test.dst); got != test.want {
			t.Errorf("tag of %d, %d is %#x, not %#x", test.src, test.dst, got, test.want)
		}
	}
	if Tag(1, 2) == Tag(2, 1) {
		t.Error("the tag does not know the direction")
	}
}

func FuzzHeader(f *testing.F) {
	for _, test := range headers {
		f.Add(bytesOf(f, test.hex), test.payload)
	}
	f.Fuzz(func(t *testing.T, b []byte, payload int) {
		h, err := Read(b, payload)
		used := usedHeader()
		if fault := used.Read(b, payload); fault != err {
			t.Fatalf("%x is read with %v, and over another header with %v", b, err, fault)
		}
		if err != nil {
			return
		}
		if !alike(&used, &h) {
			t.Fatalf("%x is %+v, and over another header %+v", b, h, used)
		}
		again, err := h.Append(nil)
		if err != nil {
			t.Fatalf("%+v can not be written: %v", h, err)
		}
		// A run of one, or numbers longer than needed, may come in; what comes out is never longer.
		if len(again) > len(b) {
			t.Fatalf("%x became %x", b, again)
		}
		second, err := Read(again, payload)
		if err != nil || !reflect.DeepEqual(second, h) {
			t.Fatalf("%+v became %+v, %v", h, second, err)
		}
	})
}

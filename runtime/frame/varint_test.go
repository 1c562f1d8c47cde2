package frame

import (
	"encoding/hex"
	"testing"
)

func TestVarint(t *testing.T) {
	for _, test := range []struct {
		v   uint64
		hex string
	}{
		// The last four are the examples of RFC 9000 appendix A.1.
		{0, "00"}, {63, "3f"}, {64, "4040"}, {16383, "7fff"}, {16384, "80004000"}, {1<<30 - 1, "bfffffff"},
		{1 << 30, "c000000040000000"}, {MaxVarint, "ffffffffffffffff"},
		{151288809941952652, "c2197c5eff14e88c"}, {494878333, "9d7f3e7d"}, {15293, "7bbd"}, {37, "25"},
	} {
		b := AppendVarint([]byte{9}, test.v)
		if got := hex.EncodeToString(b[1:]); got != test.hex || b[0] != 9 || varintSize(test.v) != len(b)-1 {
			t.Errorf("%d is %s, not %s", test.v, got, test.hex)
		}
		v, n := Varint(append(b[1:], 1, 2, 3))
		if v != test.v || n != len(b)-1 {
			t.Errorf("%s reads as %d in %d bytes", test.hex, v, n)
		}
		for i := range b[1:] {
			if _, n := Varint(b[1 : 1+i]); n != 0 {
				t.Errorf("%d bytes of %s are taken", i, test.hex)
			}
		}
	}
	if v, n := Varint([]byte{0x40, 0x25}); v != 37 || n != 2 {
		t.Errorf("longer than needed: %d in %d", v, n)
	}
}

package wire

import "github.com/hyroute/hyroute/runtime/address"

// addresses remembers the addresses read last, for the same few come again and again: a hit saves a parse and its
// allocation. It never changes what is read.
type addresses [256]parsed

// parsed is an address under the text it was read from.
type parsed struct {
	raw     string
	inList  bool
	address address.Address
}

// slot is where raw is, if it is remembered at all, and where it is to be remembered if not.
func (a *addresses) slot(raw []byte) *parsed {
	// FNV-1a over the last bytes: addresses of one domain differ at the end.
	h := uint32(2166136261)
	for _, c := range raw[max(0, len(raw)-24):] {
		h = (h ^ uint32(c)) * 16777619
	}
	return &a[(h^h>>16)%uint32(len(a))]
}

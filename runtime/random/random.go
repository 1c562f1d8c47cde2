// Package random is the machine's only source of chance: a generator that is seeded by the body and kept in the snapshot, so
// that equal events give equal effects.
package random

import "github.com/hyroute/hyroute/runtime/snapshot"

// Source is a SplitMix64 generator (Steele, Lea and Flood, OOPSLA 2014). It is not for secrets: keys and nonces of proofs
// are the body's.
type Source struct{ state uint64 }

// New is a source that starts from seed.
func New(seed uint64) *Source { return &Source{seed} }

// Reseed starts anew from seed.
func (s *Source) Reseed(seed uint64) { s.state = seed }

// Uint64 is the next 64 bits.
func (s *Source) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below is a number in [0, n). n must not be 0.
func (s *Source) Below(n uint64) uint64 { return s.Uint64() % n }

// Nonce is 32 bits, never 0.
func (s *Source) Nonce() uint32 {
	for {
		if v := uint32(s.Uint64()); v != 0 {
			return v
		}
	}
}

// Snapshot writes or reads the state.
func (s *Source) Snapshot(c *snapshot.Codec) { c.Uint64(&s.state) }

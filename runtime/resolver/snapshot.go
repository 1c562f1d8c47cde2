package resolver

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/order"
	"github.com/hyroute/hyroute/runtime/snapshot"
)

// Snapshot writes what is known, or reads it into a resolver that New just made. Listeners and node stubs are their owner's to tell again.
func (r *Resolver) Snapshot(c *snapshot.Codec) {
	c.Uint64(&r.now)
	c.Uint64(&r.uses)
	var entries []*Entry
	for _, e := range r.entries {
		entries = append(entries, e)
	}
	order.Sort(len(entries), func(i, j int) bool { return entries[i].use < entries[j].use }, func(i, j int) {
		entries[i], entries[j] = entries[j], entries[i]
	})
	snapshot.Slice(c, &entries, func(e **Entry) {
		if c.Reading() {
			*e = &Entry{}
		}
		x := *e
		c.Address(&x.entity)
		c.Address(&x.Runtime)
		c.Bool(&x.Sessions)
		c.Uint64(&x.Code)
		c.Uint64(&x.until)
		c.Uint64(&x.use)
		r.entries[x.entity] = x
	})
	var peers []peerEntry
	for runtime, p := range r.peers {
		peers = append(peers, peerEntry{runtime, p})
	}
	order.Sort(len(peers), func(i, j int) bool { return peers[i].Stub < peers[j].Stub }, func(i, j int) {
		peers[i], peers[j] = peers[j], peers[i]
	})
	snapshot.Slice(c, &peers, func(p *peerEntry) {
		c.Address(&p.runtime)
		c.Uint64(&p.Stub)
		c.Bool(&p.Live)
		r.peers[p.runtime] = p.PeerStub
	})
}

type peerEntry struct {
	runtime address.Address
	PeerStub
}

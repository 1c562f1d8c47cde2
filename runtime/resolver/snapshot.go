package resolver

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/snapshot"
)

// Snapshot writes what is known, or reads it into a resolver that New just made. Listeners and node stubs are their owner's to tell again.
func (r *Resolver) Snapshot(c *snapshot.Codec) {
	c.Uint64(&r.now)
	c.Uint64(&r.uses)
	snapshot.Map(c, &r.entries, snapshot.ByAddress, func(a *address.Address, e **Entry) {
		c.Address(a)
		if c.Reading() {
			*e = &Entry{}
		}
		x := *e
		c.Address(&x.Runtime)
		c.Bool(&x.Sessions)
		c.Uint64(&x.Code)
		c.Uint64(&x.until)
		c.Uint64(&x.use)
	})
	snapshot.Map(c, &r.peers, snapshot.ByAddress, func(a *address.Address, p *PeerStub) {
		c.Address(a)
		c.Uint64(&p.Stub)
		c.Bool(&p.Live)
	})
}

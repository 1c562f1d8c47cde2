package engine

import (
	"errors"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/session"
	"github.com/hyroute/hyroute/runtime/snapshot"
)

// snapshotVersion changes with every change of what a snapshot holds.
const snapshotVersion = 3

var errReference = errors.New("engine: snapshot: a reference leads nowhere")

// Snapshot is the whole state between two Steps: Restore makes a machine of it that does what this one would do.
func (e *Engine) Snapshot() []byte {
	c := snapshot.Writer()
	version := uint64(snapshotVersion)
	c.Uint64(&version)
	e.config.snapshot(c)
	e.snapshot(c)
	return snapshot.Seal(c.Bytes())
}

// Restore makes a machine of a snapshot. It fails for bytes that are not as Snapshot gave them.
func Restore(b []byte) (*Engine, error) {
	b, err := snapshot.Unseal(b)
	if err != nil {
		return nil, err
	}
	return restore(b)
}

// restore reads what is within the seal.
func restore(b []byte) (*Engine, error) {
	c := snapshot.Reader(b)
	var version uint64
	c.Uint64(&version)
	if version != snapshotVersion {
		return nil, errors.New("engine: snapshot: made by another version")
	}
	var config Config
	config.snapshot(c)
	if !config.Runtime.IsRuntime() {
		return nil, errors.New("engine: snapshot: no runtime")
	}
	e := empty(config)
	e.snapshot(c)
	if err := c.Err(); err != nil {
		return nil, err
	}
	return e, nil
}

func (x *Config) snapshot(c *snapshot.Codec) {
	c.Address(&x.Runtime)
	c.Uint64(&x.Wall)
	c.Uint64(&x.Seed)
	snapshot.Slice(c, &x.Domains, c.String)
	c.Bool(&x.Direct)
}

func (e *Engine) snapshot(c *snapshot.Codec) {
	for _, v := range []*uint64{&e.now, &e.woken, &e.ids.object, &e.ids.stub, &e.ids.job, &e.ids.delivery} {
		c.Uint64(v)
	}
	c.Bool(&e.closed)
	e.random.Snapshot(c)
	e.resolver.Snapshot(c)
	e.sessions.Snapshot(c)
	snapshot.Slice(c, &e.nodes, func(n **node) {
		if c.Reading() {
			*n = &node{}
		}
		(*n).snapshot(c)
	})
	if c.Reading() {
		for _, n := range e.nodes {
			e.resolver.SetNode(n.domain, n.stub)
			e.at(n.id, n)
			if n.probeJob != 0 {
				e.jobs[n.probeJob] = (*probe)(n)
			}
		}
	}
	e.snapshotMessages(c)
	e.snapshotEndpoints(c)
	e.snapshotLookups(c)
	e.snapshotPeerings(c)
	given := sorted(e.handed.Values())
	snapshot.Slice(c, &given, func(h **handed) {
		if c.Reading() {
			*h = &handed{}
		}
		x := *h
		c.Uint64(&x.id)
		e.messageReference(c, &x.message)
		c.Uint64(&x.json)
		snapshotReceipt(c, &x.receipt)
		e.handed.Put(x.id, x)
	})
	routes := inOrder(e.routes)
	snapshot.Slice(c, &routes, func(r **route) {
		if c.Reading() {
			*r = &route{}
		}
		x := *r
		wish := uint8(x.flow.wish)
		c.Uint64(&x.id)
		c.Address(&x.flow.from)
		c.Address(&x.flow.to)
		c.Byte(&wish)
		x.flow.wish = Wish(wish)
		c.String(&x.key)
		e.routes[x.flow] = x
	})
}

func snapshotReceipt(c *snapshot.Codec, r *session.Receipt) {
	c.Uint64(&r.Session)
	c.Uint64(&r.Epoch)
	c.Uint64(&r.End)
}

func (n *node) snapshot(c *snapshot.Codec) {
	for _, v := range []*uint64{&n.id, &n.stub, &n.tries, &n.liveSince, &n.lostAt, &n.probeJob, &n.alarmAt} {
		c.Uint64(v)
	}
	c.String(&n.domain)
	c.Bool(&n.live)
	c.String(&n.failed)
	snapshot.Slice(c, &n.watched, c.Address)
	if _, err := address.Parse("domain://registry." + n.domain); err != nil && c.Reading() {
		c.Fail(err)
	}
}

// nodeReference writes a node by its stub; none is 0.
func (e *Engine) nodeReference(c *snapshot.Codec, n **node) {
	var stub uint64
	if *n != nil {
		stub = (*n).stub
	}
	c.Uint64(&stub)
	if !c.Reading() || stub == 0 {
		return
	}
	if *n = e.nodeOf(stub); *n == nil {
		c.Fail(errReference)
	}
}

// messageReference writes a message by its number; none is 0.
func (e *Engine) messageReference(c *snapshot.Codec, m **message) {
	var msg uint64
	if *m != nil {
		msg = (*m).msg
	}
	c.Uint64(&msg)
	if !c.Reading() || msg == 0 {
		return
	}
	if *m = e.messages.Get(msg); *m == nil {
		c.Fail(errReference)
	}
}

func (e *Engine) snapshotMessages(c *snapshot.Codec) {
	messages := sorted(e.messages.Values())
	snapshot.Slice(c, &messages, func(m **message) {
		if c.Reading() {
			*m = &message{}
		}
		x := *m
		wish := uint8(x.wish)
		for _, v := range []*uint64{&x.id, &x.msg, &x.deadline, &x.answer, &x.handed, &x.alarmAt} {
			c.Uint64(v)
		}
		c.Address(&x.from)
		c.Address(&x.to)
		c.Address(&x.peer)
		c.Int(&x.size)
		c.Int(&x.moves)
		c.Byte(&wish)
		x.wish = Wish(wish)
		c.Bool(&x.plain)
		c.String(&x.lane)
		c.Bool(&x.replied)
		c.Bool(&x.settled)
		c.Bool(&x.looked)
		c.Bool(&x.again)
		c.Bool(&x.vouched)
		c.String(&x.why)
		e.nodeReference(c, &x.node)
		e.messages.Put(x.msg, x)
	})
	if c.Reading() {
		for _, m := range messages {
			e.at(m.id, m)
			if m.again {
				e.again++
			}
			if !m.peer.IsZero() {
				e.launch(m)
			}
			if m.node != nil {
				m.node.waiting = append(m.node.waiting, m)
				m.node.bytes += m.size
			}
		}
	}
}

func (e *Engine) snapshotEndpoints(c *snapshot.Codec) {
	endpoints, farewells := inOrder(e.endpoints), inOrder(e.farewells)
	snapshot.Slice(c, &endpoints, func(p **endpoint) {
		if c.Reading() {
			*p = &endpoint{}
		}
		x := *p
		state := uint8(x.state)
		for _, v := range []*uint64{&x.id, &x.job, &x.tries, &x.alarmAt} {
			c.Uint64(v)
		}
		c.Address(&x.address)
		c.Byte(&state)
		x.state = endpointState(state)
		e.nodeReference(c, &x.node)
		e.endpoints[x.address] = x
	})
	snapshot.Slice(c, &farewells, func(f **farewell) {
		if c.Reading() {
			*f = &farewell{}
		}
		x := *f
		c.Uint64(&x.id)
		c.Address(&x.address)
		c.Uint64(&x.job)
		e.nodeReference(c, &x.node)
		if x.node == nil {
			c.Fail(errReference)
		}
		e.farewells[x.address] = x
	})
	if c.Reading() {
		for _, f := range farewells {
			if f.job != 0 {
				e.jobs[f.job] = f
			}
		}
		for _, p := range endpoints {
			e.resolver.Listen(p.address)
			e.at(p.id, p)
			if p.job != 0 {
				e.jobs[p.job] = p
			}
		}
	}
}

func (e *Engine) snapshotLookups(c *snapshot.Codec) {
	lookups := inOrder(e.lookups)
	snapshot.Slice(c, &lookups, func(l **lookup) {
		if c.Reading() {
			*l = &lookup{}
		}
		x := *l
		for _, v := range []*uint64{&x.id, &x.job, &x.watchJob, &x.tries, &x.code, &x.alarmAt} {
			c.Uint64(v)
		}
		c.Address(&x.entity)
		c.Address(&x.draining)
		c.Bool(&x.watching)
		e.nodeReference(c, &x.node)
		if x.node == nil {
			c.Fail(errReference)
		}
		snapshot.Slice(c, &x.waiting, func(m **message) {
			if e.messageReference(c, m); *m == nil {
				c.Fail(errReference)
			}
		})
		snapshot.Slice(c, &x.arrivals, func(a **session.Arrived) {
			if c.Reading() {
				*a = &session.Arrived{}
			}
			y := *a
			snapshotReceipt(c, &y.Receipt)
			c.Uint64(&y.First)
			c.Uint64(&y.Last)
			c.Address(&y.Peer)
			c.Address(&y.From)
			c.Address(&y.To)
			c.Bool(&y.Direct)
		})
		e.lookups[x.entity] = x
	})
	if c.Reading() {
		for _, l := range lookups {
			e.at(l.id, l)
			if l.job != 0 {
				e.jobs[l.job] = l
			}
			if l.watchJob != 0 {
				e.jobs[l.watchJob] = (*subscription)(l)
			}
			for _, m := range l.waiting {
				if m != nil { // the reference failed
					m.lookup = l
					l.bytes += m.size
				}
			}
		}
	}
}

func (e *Engine) snapshotPeerings(c *snapshot.Codec) {
	peerings := inOrder(e.peerings)
	snapshot.Slice(c, &peerings, func(p **peering) {
		if c.Reading() {
			*p = &peering{}
		}
		x := *p
		state := uint8(x.state)
		for _, v := range []*uint64{&x.id, &x.attempt, &x.stub, &x.fails, &x.held, &x.upSince, &x.until, &x.tries, &x.generation, &x.restarted, &x.alarmAt} {
			c.Uint64(v)
		}
		c.Address(&x.peer)
		c.Byte(&state)
		x.state = peeringState(state)
		c.Bool(&x.sent)
		c.Bool(&x.wanted)
		c.Bool(&x.refused)
		snapshot.Slice(c, &x.past, c.Uint64)
		e.peerings[x.peer] = x
	})
	snapshot.Slice(c, &e.invited, c.Uint64)
	if c.Reading() {
		for _, p := range peerings {
			e.at(p.id, p)
			if p.state != apart {
				e.engaged++
			}
			if p.stub != 0 {
				e.stubs[p.stub] = p
			}
		}
	}
}

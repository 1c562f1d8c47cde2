package engine

import "github.com/hyroute/hyroute/runtime/address"

// endpoint is an address that somebody here listens at.
type endpoint struct {
	id      uint64
	address address.Address
	node    *node // where it is announced; nil: nowhere
	state   endpointState
	job     uint64
	tries   uint64
	alarmAt uint64 // deadline of the job, next try, or next keep-alive
}

type endpointState uint8

const (
	unannounced endpointState = iota
	announcing
	announced
	refreshing
	turnedDown // the registry refused it: tried again, the other one may go
)

func (p *endpoint) number() uint64 { return p.id }
func (p *endpoint) due() uint64    { return p.alarmAt }
func (p *endpoint) stubOf() uint64 { return p.node.stub }

func (e *Engine) endpointRegistered(a address.Address) {
	if a.IsZero() || e.endpoints[a] != nil || len(e.endpoints) >= e.numbers.Endpoints {
		return
	}
	p := &endpoint{id: e.newID(), address: a}
	e.endpoints[a] = p
	if f := e.farewells[a]; f != nil {
		delete(e.farewells, a)
		delete(e.jobs, f.job)
	}
	e.resolver.Listen(a)
	known := a.Class() == address.Entity || a.Class() == address.Publish
	if known && !a.Within(e.config.Runtime) && e.resolver.MayUse(a.Domain()) {
		p.node = e.node(a.Domain())
		p.announce(e)
	}
	e.offerAgain(a)
	if a.Class() == address.Entity {
		e.cameHere(a.Entity())
	}
}

// cameHere lets messages that were posted here to an entity, and wait or are on their way to where it was, come before those
// that are posted now that it listens here.
func (e *Engine) cameHere(entity address.Address) {
	var from address.Address
	for f, x := range e.flights {
		if f.entity == entity && x.count > 0 && (from.IsZero() || f.peer.Less(from)) {
			from = f.peer
		}
	}
	l := e.lookups[entity]
	if l == nil && !from.IsZero() {
		l = e.lookup(entity, entity.Domain())
	}
	if l == nil {
		return
	}
	if l.draining.IsZero() {
		l.draining = from
	}
	l.release(e)
}

func (e *Engine) endpointUnregistered(a address.Address) {
	p := e.endpoints[a]
	if p == nil {
		return
	}
	delete(e.endpoints, a)
	delete(e.jobs, p.job)
	e.resolver.Unlisten(a)
	e.resolver.Forget(a.Entity())
	p.alarmAt = 0
	switch {
	case p.node == nil:
	case !p.publishes():
		f := &farewell{id: e.newID(), address: a, node: p.node}
		e.farewells[a] = f
		f.say(e)
	case p.node.live:
		e.emit(&Unsubscribe{Job: e.newJob(nil), Stub: p.node.stub, Addresses: []address.Address{a}})
	}
}

// farewell is the entry of an address where nobody listens any more: it is deleted as soon as the node is there, and until the
// node says so.
type farewell struct {
	id      uint64
	address address.Address
	node    *node
	job     uint64
}

func (f *farewell) number() uint64 { return f.id }
func (f *farewell) stubOf() uint64 { return f.node.stub }

func (f *farewell) say(e *Engine) {
	if f.node.live {
		f.job = e.newJob(f)
		e.emit(&UnregisterEndpoint{Job: f.job, Stub: f.node.stub, Address: f.address})
	}
}

func (f *farewell) answered(e *Engine, _ *RegistryAnswered) { delete(e.farewells, f.address) }

// publishes says whether the address has many listeners: it is subscribed, not registered.
func (p *endpoint) publishes() bool { return p.address.Class() == address.Publish }

// announce makes the address known at the node, if that is there.
func (p *endpoint) announce(e *Engine) {
	if !p.node.live {
		return
	}
	p.job = e.newJob(p)
	p.state = announcing
	if p.publishes() {
		e.emit(&Subscribe{Job: p.job, Stub: p.node.stub, Addresses: []address.Address{p.address}})
	} else {
		e.emit(&RegisterEndpoint{Job: p.job, Stub: p.node.stub, Address: p.address, Expires: e.numbers.Expires})
	}
	p.alarmAt = e.now + e.numbers.Read
	e.at(p.id, p)
}

func (p *endpoint) refresh(e *Engine) {
	p.job = e.newJob(p)
	p.state = refreshing
	e.emit(&RefreshEndpoint{Job: p.job, Stub: p.node.stub, Address: p.address})
	p.alarmAt = e.now + e.numbers.Read
	e.at(p.id, p)
}

// announce tells a node that is live again what it does not know of us.
func (e *Engine) announce(n *node, resumed bool) {
	if !resumed && len(n.watched) > 0 {
		e.emit(&Subscribe{Job: e.newJob(nil), Stub: n.stub, Addresses: append([]address.Address(nil), n.watched...)})
	}
	for _, f := range inOrder(e.farewells) {
		if f.node == n {
			f.say(e)
		}
	}
	for _, p := range inOrder(e.endpoints) {
		switch {
		case p.node != n:
		case !resumed:
			p.announce(e)
		case !p.publishes():
			p.refresh(e)
		default:
			p.state = announced
		}
	}
}

func (p *endpoint) answered(e *Engine, a *RegistryAnswered) {
	p.job, p.alarmAt = 0, 0
	switch {
	case a.Code == 200:
		p.state, p.tries = announced, 0
		if !p.publishes() {
			p.alarmAt = e.now + e.numbers.Expires*1000/3
		}
	case a.Code == 404 && p.state == refreshing:
		p.announce(e)
		return
	case a.Code >= 400 && a.Code < 500 && a.Code != 408:
		p.again(e)
		p.state = turnedDown
		return
	default:
		p.again(e)
		return
	}
	e.at(p.id, p)
}

func (p *endpoint) again(e *Engine) {
	p.state, p.job = unannounced, 0
	p.alarmAt = e.now + min(e.numbers.Again<<min(p.tries, 16), e.numbers.AgainMost)
	p.tries++
	e.at(p.id, p)
}

// ring: no answer came, it is time for another try, or for the keep-alive.
func (p *endpoint) ring(e *Engine) {
	p.alarmAt = 0
	if !p.node.live {
		return
	}
	switch p.state {
	case announcing, refreshing:
		delete(e.jobs, p.job)
		p.again(e)
	case unannounced, turnedDown:
		p.announce(e)
	case announced:
		p.refresh(e)
	}
}

package node

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// text does what a text message asks for.
func (c *client) text(b []byte) {
	e, err := message.Parse(b)
	if err != nil {
		c.invalid(&e, trimPackage(err))
		return
	}
	if e.To == sessionURL {
		c.sessionMessage(&e)
		return
	}
	from, err := address.Parse(e.From)
	if err != nil {
		c.invalid(&e, "from: "+trimPackage(err))
		return
	}
	to, err := address.Parse(e.To)
	if err != nil {
		c.invalid(&e, "to: "+trimPackage(err))
		return
	}
	s := c.session.Load()
	if s == nil {
		c.answer(&e, refuse(403, "from: nothing is open on this socket").body(""))
		return
	}
	if err := s.maySend(from); err != nil {
		c.answer(&e, err.body(""))
		return
	}
	if to.Class() == address.Backend {
		c.backend(&e, to)
		return
	}
	c.out = e.Append(c.out[:0])
	reached, failed := c.node.deliver(to, c.out)
	if cap(c.out) > inKept {
		c.out = nil
	}
	if e.Type == message.Response {
		return
	}
	if failed != nil {
		c.answer(&e, failed.body(""))
	} else if !reached {
		c.answer(&e, refuse(404, to.String()+": nobody is here").body(""))
	}
}

// maySend says whether the session's runtime speaks for an address.
func (s *session) maySend(from address.Address) *refusal {
	if from.Within(s.seat.url) {
		return nil
	}
	entity := from.Entity()
	switch from.Class() {
	case address.Runtime, address.Signalling:
		return s.claim(from)
	case address.Entity, address.Publish:
	default:
		return refuse(403, "from: "+from.String()+" is not yours")
	}
	owner, err := s.node.owner(entity)
	switch {
	case err != nil:
		return err
	case owner == s.seat.url:
		return nil
	case !owner.IsZero():
		return refuse(403, "from: "+from.String()+" is another runtime's")
	case s.subscribed(entity), from.Class() == address.Entity && s.subscribed(from):
		return nil
	}
	return s.claim(from)
}

// claim lets an unsigned runtime speak for an address that is nobody's, as the predecessor's node did: such clients neither
// register nor subscribe before they send. Messages to the address come here from then on.
func (s *session) claim(a address.Address) *refusal {
	no := refuse(403, "from: "+a.String()+" is neither registered nor subscribed by this runtime")
	if s.signed {
		return no
	}
	if a.Scheme() == "runtime" && (address.IsRuntimeID(a.ID()) || s.node.sessionOf(a.Entity()) != nil) {
		return no
	}
	if a.Class() == address.Publish {
		a = a.Entity()
	}
	return s.subscribe(a)
}

// owner is the runtime that an entity belongs to: by allocation, by a live registry entry, or because it bears the
// runtime's id. It is zero for nobody's.
func (n *Node) owner(entity address.Address) (address.Address, *refusal) {
	n.mu.Lock()
	s := n.allocations[entity]
	n.mu.Unlock()
	if s != nil {
		return s.seat.url, nil
	}
	owner, refused := n.registered(entity)
	if refused == nil && owner.IsZero() && address.IsRuntimeID(entity.ID()) {
		if named, err := address.Parse("runtime://" + entity.Domain() + "/" + entity.ID()); err == nil {
			owner = named
		}
	}
	return owner, refused
}

// deliver passes a message on by its address, and says whether it reached anybody.
func (n *Node) deliver(to address.Address, b []byte) (bool, *refusal) {
	owner := address.Address{}
	switch to.Class() {
	case address.Runtime, address.Signalling:
		owner = to.Entity()
		if n.sessionOf(owner) == nil {
			owner = address.Address{}
		}
	case address.Entity:
		var err *refusal
		if owner, err = n.owner(to.Entity()); err != nil {
			return false, err
		}
	}
	// What has an owner goes to nobody else: to subscribe another's address is no way to listen in.
	if !owner.IsZero() {
		s := n.sessionOf(owner)
		return s != nil && s.Receive(b), nil
	}
	taken, err := n.config.Engine.Publish(to, b)
	if err != nil {
		return taken > 0, refuse(500, "engine: "+err.Error())
	}
	return taken > 0, nil
}

// backend does what a message to a function of the node asks for.
func (c *client) backend(e *message.Envelope, to address.Address) {
	if e.Type == message.Response {
		return
	}
	domain := c.node.config.Domain
	switch {
	case to == c.node.registry, to.String() == "global://registry":
		c.registryMessage(e)
	case to.Host() != "msg-node."+domain:
		c.answer(e, refuse(404, to.String()+": no such function of this node").body(""))
	case to.Path() == "/sm":
		c.subscriptions(e)
	case to.Path() == "/address-allocation", to.Path() == "/hyperty-address-allocation", to.Path() == "/object-address-allocation":
		c.allocation(e)
	default:
		c.answer(e, refuse(404, to.String()+": no such function of this node").body(""))
	}
}

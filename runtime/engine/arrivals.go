package engine

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/session"
)

// handed is a message that a listener of this runtime was given: one posted here, a plain one, or one of a session.
type handed struct {
	id      uint64
	message *message
	json    uint64
	receipt session.Receipt
}

func (h *handed) number() uint64 { return h.id }

// binding says that an address belongs to a runtime by its name. The last one found is most often that of the next message too.
type binding struct{ from, runtime address.Address }

func (e *Engine) hand(h handed) uint64 {
	e.ids.delivery++
	h.id = e.ids.delivery
	x := e.blank.Take()
	if x == nil {
		x = new(handed)
	}
	*x = h
	e.handed.Put(h.id, x)
	return h.id
}

// arrived takes a message from a session: its sender must live where it came from, and somebody must listen here.
func (e *Engine) arrived(a *session.Arrived) {
	if !e.resolver.Listens(a.To) {
		e.refuseArrival(a, e.absence(a.To))
		return
	}
	if a.From == e.bound.from && a.Peer == e.bound.runtime {
		e.deliver(a)
		return
	}
	entity := a.From.Entity()
	if entity == a.Peer || namedAfter(entity, a.Peer) {
		e.bound = binding{a.From, a.Peer}
		e.deliver(a)
		return
	}
	if a.From.Class() != address.Entity || !e.resolver.MayUse(entity.Domain()) {
		e.refuseArrival(a, session.RefuseNotBound)
		return
	}
	l := e.lookups[entity]
	waits := l != nil && len(l.arrivals) > 0
	if known := e.resolver.Known(entity); !waits && known != nil && !known.Runtime.IsZero() {
		switch {
		case known.Runtime == a.Peer:
			e.deliver(a)
			return
		case e.resolver.Recent(entity):
			e.refuseArrival(a, session.RefuseNotBound)
			return
		}
		// It may have moved there since.
	}
	l = e.lookup(entity, entity.Domain())
	kept := *a
	l.arrivals = append(l.arrivals, &kept)
	l.ask(e)
}

// absence is the code of the refusal where nobody listens at to.
func (e *Engine) absence(to address.Address) uint8 {
	if to.Within(e.config.Runtime) || to.Class() != address.Entity || e.resolver.Listens(to.Entity()) {
		return session.RefuseNoListener
	}
	return session.RefuseMoved
}

// namedAfter says whether an address belongs to a runtime by its name: the same domain, and the runtime's id for an id, which
// is the fingerprint of its key. No registry has to be asked about such a one.
func namedAfter(entity, runtime address.Address) bool {
	return entity.Class() == address.Entity && entity.ID() == runtime.ID() && entity.Host() == runtime.Host()
}

// handOver gives a session's message to its listener, who may have left while the sender was looked up.
func (e *Engine) handOver(a *session.Arrived) {
	if !e.resolver.Listens(a.To) {
		e.refuseArrival(a, e.absence(a.To))
		return
	}
	e.deliver(a)
}

func (e *Engine) deliver(a *session.Arrived) {
	path := "relay"
	if a.Direct {
		path = "direct"
	}
	d := e.hand(handed{receipt: a.Receipt})
	x := e.lent.deliver.Lend()
	if x == nil {
		x = e.lent.deliver.Add(new(Deliver))
	}
	*x = Deliver{Delivery: d, Session: a.Receipt.Session, First: a.First, Last: a.Last, From: a.From, To: a.To, Path: path}
	e.emit(x)
}

func (e *Engine) refuseArrival(a *session.Arrived, code uint8) {
	e.emit(&Drop{Session: a.Receipt.Session, First: a.First, Last: a.Last})
	e.sessions.Refuse(a.Receipt, code)
}

// jsonReceived takes a plain message: it is delivered or refused, never forwarded on.
func (e *Engine) jsonReceived(ev *JSONReceived) {
	switch {
	case !e.resolver.Listens(ev.To):
		e.emit(&Discard{JSON: ev.JSON, Reason: "no-listener"})
		return
	case ev.To.Class() == address.Publish && e.resolver.Ours(ev.From):
		e.emit(&Discard{JSON: ev.JSON, Reason: "echo"}) // it was delivered here when it was posted
		return
	case e.handed.Len() >= e.numbers.Handed:
		e.emit(&Discard{JSON: ev.JSON, Reason: "too-many"})
		return
	}
	d := e.hand(handed{json: ev.JSON})
	e.emit(&Deliver{Delivery: d, JSON: ev.JSON, From: ev.From, To: ev.To, Path: "relay"})
}

func (e *Engine) deliveryTaken(d uint64) {
	h := e.handed.Get(d)
	if h == nil {
		return
	}
	e.handed.Remove(d)
	switch {
	case h.message != nil:
		h.message.handed = 0
		if h.message.node == nil { // else it still waits for the node
			e.settle(h.message, Settle{Outcome: "delivered"})
		}
	case h.json == 0:
		e.sessions.Taken(h.receipt)
	}
	e.blank.Give(h)
}

func (e *Engine) deliveryRefused(d uint64, reason string) {
	h := e.handed.Get(d)
	if h == nil {
		return
	}
	e.handed.Remove(d)
	switch {
	case h.message != nil:
		h.message.handed = 0
		e.reject(h.message, reason, false)
	case h.json != 0:
		e.emit(&Discard{JSON: h.json, Reason: reason})
	default:
		e.sessions.Refuse(h.receipt, refusalCode(reason))
	}
}

func refusalCode(reason string) uint8 {
	switch reason {
	case "no-listener":
		return session.RefuseNoListener
	case "refused":
		return session.RefuseForbidden
	}
	return session.RefuseUnsupported
}

// dropArrivals forgets what a session brought and is not handed over yet: the peer started its stream over, so its sender was
// told that these are in doubt, and after the gap they would be out of order.
func (e *Engine) dropArrivals(session uint64) {
	for _, l := range inOrder(e.lookups) {
		kept := l.arrivals[:0]
		for _, a := range l.arrivals {
			if a.Receipt.Session == session {
				e.emit(&Drop{Session: a.Receipt.Session, First: a.First, Last: a.Last})
			} else {
				kept = append(kept, a)
			}
		}
		l.arrivals = kept
		l.endIfIdle(e)
	}
}

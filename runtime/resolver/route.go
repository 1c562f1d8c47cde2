package resolver

import "github.com/hyroute/hyroute/runtime/address"

// By says what moves a message on.
type By uint8

// The ways on.
const (
	ByLocal   By = iota + 1 // a listener in this runtime
	BySession               // the session with Peer
	ByNode                  // a plain message by the node of Domain
	ByNone                  // it is rejected for Reason
	ByLookup                // the Domain Registry has to be asked first about Entity
)

// Route is a decision.
type Route struct {
	By     By
	Peer   address.Address // BySession
	Direct bool            // BySession: peer connections may be used
	Stub   uint64          // of the peer connection that is live, if it is
	Domain string          // whose node carries it, or is asked
	Entity address.Address // ByLookup
	Reason string          // ByNone: the rejection; else why it is not direct
	Steps  []uint8         // of the routing document
}

// decision is the last one that Route made: most often the next message goes the same way.
type decision struct {
	from, to     address.Address
	never, plain bool
	route        *Route
	entry        *Entry // that it hangs on
}

// Route decides where a message from a listener here goes. never keeps it off peer connections; plain: it is part of the
// JSON world.
//
// The steps are those of Routing Address Resolve. The Message Node is used at once while a peer connection is set up
// behind it (steps 18-22 as the design settles them), so only the registry's answer is ever waited for.
//
// The same Route is given again for as long as it is asked for the same and nothing changed.
func (r *Resolver) Route(from, to address.Address, never, plain bool) *Route {
	l := &r.last
	if l.route != nil && l.to == to && l.from == from && l.never == never && l.plain == plain && (l.entry == nil || r.use(l.entry)) {
		return l.route
	}
	d := r.Onward(to, never, plain, r.Ours(from))
	l.from, l.to, l.never, l.plain, l.route = from, to, never, plain, d
	return d
}

// Onward is Route for a message of which it is known whether its sender is ours.
func (r *Resolver) Onward(to address.Address, never, plain, ours bool) *Route {
	r.last = decision{}
	d := Route{Steps: []uint8{1, 2, 3}}.reject("unknown-sender")
	if ours {
		d = r.onward(to, never, plain)
	}
	return &d
}

func (r *Resolver) onward(to address.Address, never, plain bool) Route {
	d := Route{Steps: append(make([]uint8, 0, 16), 1, 2, 3)}
	if r.local[to] && to.Class() != address.Publish {
		return Route{By: ByLocal}
	}
	switch to.Class() {
	case address.Backend:
		d.Steps = append(d.Steps, 4, 5)
		return r.byNode(d, to)
	case address.Signalling, address.Publish:
		d.Steps = append(d.Steps, 25)
		return r.byNode(d, to)
	case address.Runtime:
		if to.Within(r.self) {
			return d.reject("no-listener")
		}
		if plain {
			return r.byNode(d, to)
		}
		d.Steps = append(d.Steps, 6, 7, 8)
		return r.bySession(d, to.Entity(), never, true)
	case address.Entity:
		if plain {
			return r.byNode(d, to)
		}
		return r.toEntity(d, to, never)
	}
	return d.reject("unsupported-address")
}

// toEntity is steps 6 to 25 for a Hyperty or a data object.
func (r *Resolver) toEntity(d Route, to address.Address, never bool) Route {
	if !r.MayUse(to.Domain()) {
		return d.reject("refused")
	}
	entity := to.Entity()
	d.Steps = append(d.Steps, 6, 7, 8)
	known := r.Known(entity)
	r.last.entry = known
	if known == nil {
		// The name says where it lives: nothing has to be asked.
		if runtime := entity.Namesake(); !runtime.IsZero() && runtime != r.self {
			return r.bySession(d, runtime, never, true)
		}
	}
	switch {
	case known == nil || known.Runtime.IsZero():
		d.By, d.Entity, d.Domain = ByLookup, entity, to.Domain()
		d.Steps = append(d.Steps, 9, 10, 11, 12, 13, 14)
		return d
	case !known.Sessions:
		d.Steps = append(d.Steps, 15, 16, 17, 23)
		d.Reason = "no-sessions"
		return r.byNode(d, to)
	}
	return r.bySession(d, known.Runtime, never, false)
}

// bySession chooses between the peer connection and the node for a session's traffic.
func (r *Resolver) bySession(d Route, peer address.Address, never, runtime bool) Route {
	if !r.MayUse(peer.Domain()) {
		return d.reject("refused")
	}
	d.By, d.Peer, d.Domain = BySession, peer, peer.Domain()
	stub, exists := r.peers[peer]
	if !runtime {
		d.Steps = append(d.Steps, 15, 16, 17)
	}
	switch {
	case never:
		d.Reason = "not-wanted"
		d.Steps = append(d.Steps, 24)
	case !r.direct:
		d.Reason = "not-possible"
		d.Steps = append(d.Steps, 23)
	case exists && stub.Live:
		d.Direct, d.Stub = true, stub.Stub
	case exists:
		d.Direct, d.Reason = true, "in-progress"
		d.Steps = append(d.Steps, 25)
	default:
		d.Direct, d.Reason = true, "upgrade"
		d.Steps = append(d.Steps, 18, 19, 20, 21, 22)
	}
	return d
}

// byNode sends a plain message by the node of the address's domain; global addresses belong to the own one.
func (r *Resolver) byNode(d Route, to address.Address) Route {
	d.By, d.Domain = ByNode, to.Domain()
	if d.Domain == "" {
		d.Domain = r.self.Domain()
	}
	if !r.MayUse(d.Domain) {
		return d.reject("refused")
	}
	return d
}

func (d Route) reject(reason string) Route {
	return Route{By: ByNone, Reason: reason, Steps: d.Steps}
}

// Ours says whether from may send from here: a listener of this runtime, a sub-resource of one, or a component of the
// runtime (step 3).
func (r *Resolver) Ours(from address.Address) bool {
	return r.local[from] || r.local[from.Entity()] || from.Within(r.self)
}

// String is the word that stands in effects.
func (b By) String() string {
	return [...]string{"", "local", "session", "node", "none", "lookup"}[b]
}

package engine

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/resolver"
	"github.com/hyroute/hyroute/runtime/session"
)

// message is a message that was posted here and is not over.
type message struct {
	id       uint64 // the order of posting
	msg      uint64
	from, to address.Address
	size     int
	wish     Wish
	plain    bool
	lane     string
	deadline uint64
	answer   uint64 // how long an answer is waited for
	replied  bool   // and it came
	settled  bool
	peer     address.Address // whose session has it
	flight   *aloft          // and with which others
	moves    int
	looked   bool   // the registry was asked for it
	why      string // what it waits for: the reason if its deadline passes
	lookup   *lookup
	node     *node
	handed   uint64 // delivery to a listener here
	again    bool   // a listener of a former life had it: the next one at its address gets it
	vouched  bool   // its sender was found to be ours by a former life
	alarmAt  uint64
}

func (m *message) number() uint64 { return m.id }
func (m *message) due() uint64    { return m.alarmAt }

// flow is a pair of addresses, and whether peer connections were not wanted.
type flow struct {
	from, to address.Address
	wish     Wish
}

// route is the decision recorded last for a flow.
type route struct {
	id   uint64
	flow flow
	key  string
}

func (r *route) number() uint64 { return r.id }

// flight is the messages to an entity that the session with a peer has.
type flight struct{ entity, peer address.Address }

// aloft counts the messages of a flight. Only the last one that was launched stays when none is left: most often the next message
// joins it.
type aloft struct {
	flight
	count int
}

func (e *Engine) messagePosted(ev *MessagePosted) {
	if ev.Msg == 0 || e.messages.Get(ev.Msg) != nil || ev.Size < 0 {
		return
	}
	limit := ev.Deadline
	if limit == 0 {
		limit = e.numbers.Deadline
	}
	m := e.spare.Take()
	if m == nil {
		m = new(message)
	}
	*m = message{
		id: e.newID(), msg: ev.Msg, from: ev.From, to: ev.To, size: ev.Size, wish: ev.Wish, plain: ev.Plain, lane: ev.Lane,
		deadline: e.now + limit, answer: ev.Answer,
	}
	e.messages.Put(m.msg, m)
	if len(m.lane) > frame.MaxLane {
		e.reject(m, "bad-option", false)
		return
	}
	e.dispatch(m)
}

// forget ends a message. What it says is left as it is until it is used again; nobody may ask for more by then.
//
//go:noinline
func (e *Engine) forget(m *message) {
	e.messages.Remove(m.msg)
	e.spare.Give(m)
}

// dispatch takes a message one step further.
func (e *Engine) dispatch(m *message) {
	r := e.route(m)
	if l := e.lookups[m.to.Entity()]; l != nil {
		if r.By == resolver.BySession && l.holds() || r.By == resolver.ByLocal && l.holdsHere(m.to) {
			l.join(e, m)
			return
		}
	}
	e.note(m, r)
	switch r.By {
	case resolver.ByLocal:
		e.deliverHere(m)
	case resolver.ByLookup:
		e.lookup(r.Entity, r.Domain).join(e, m)
	case resolver.ByNode:
		if m.to.Class() == address.Publish && e.resolver.Listens(m.to) {
			e.deliverHere(m)
		}
		e.node(r.Domain).forward(e, m)
	case resolver.BySession:
		e.post(m, r)
	default:
		e.reject(m, r.Reason, false)
	}
}

func (e *Engine) route(m *message) *resolver.Route {
	if m.vouched {
		return e.resolver.Onward(m.to, m.wish == WishNever, m.plain, true)
	}
	return e.resolver.Route(m.from, m.to, m.wish == WishNever, m.plain)
}

// note records a decision that differs from the last one for the flow.
func (e *Engine) note(m *message, r *resolver.Route) {
	if r.By == resolver.ByLookup || r == e.noted {
		return
	}
	e.noted = r
	f := flow{m.from, m.to, m.wish}
	by, peer := r.By.String(), r.Peer.String()
	if last := e.routes[f]; last != nil && last.says(by, peer, r.Reason, r.Steps) {
		return
	}
	ev := &Routed{From: m.from, To: m.to, By: by, Stub: r.Stub, Peer: r.Peer, Reason: r.Reason, Steps: r.Steps}
	if m.looked {
		ev.Steps = withLookup(r.Steps)
	}
	if len(e.routes) >= e.numbers.Flows {
		e.routes = map[flow]*route{}
	}
	e.routes[f] = &route{e.newID(), f, by + " " + peer + " " + r.Reason + " " + string(r.Steps)}
	e.emit(ev)
}

// says whether the decision is this one. It comes with every message, so nothing is made for it.
func (r *route) says(by, peer, reason string, steps []uint8) bool {
	rest := r.key
	for _, part := range [...]string{by, peer, reason} {
		n := len(part)
		if len(rest) <= n || rest[:n] != part || rest[n] != ' ' {
			return false
		}
		rest = rest[n+1:]
	}
	return rest == string(steps)
}

// withLookup puts the steps of the registry's question (9-14) where they were taken.
func withLookup(steps []uint8) []uint8 {
	all := make([]uint8, 0, len(steps)+6)
	for i, s := range steps {
		if s > 14 && (i == 0 || steps[i-1] < 9) {
			all = append(all, 9, 10, 11, 12, 13, 14)
		}
		all = append(all, s)
	}
	return all
}

// post gives a message to the session with its peer.
func (e *Engine) post(m *message, r *resolver.Route) {
	if e.putOut(r.Domain) {
		e.reject(m, superseded, false)
		return
	}
	n := e.node(r.Domain)
	why := e.sessions.Post(r.Peer, sessionKey(r, m.lane), n.stub, session.Message{
		Msg: m.msg, From: m.from, To: m.to, Size: m.size, Deadline: m.deadline,
	})
	if why != "" {
		e.reject(m, why, false)
		return
	}
	m.peer, m.why, m.alarmAt = r.Peer, "", 0
	if r != e.course || e.launched == nil {
		e.launch(m)
		e.course = r
	} else {
		e.launched.count++
		m.flight = e.launched
	}
	if r.Direct {
		e.wantDirect(r.Peer)
	}
}

func sessionKey(r *resolver.Route, lane string) session.Key {
	k := session.Key{Set: session.Relay, Lane: lane}
	if r.Direct {
		k.Set |= session.Direct
	}
	return k
}

// deliverHere hands a message to a listener of this runtime.
func (e *Engine) deliverHere(m *message) {
	d := e.hand(handed{message: m})
	m.handed = d
	e.emit(&Deliver{Delivery: d, Msg: m.msg, From: m.from, To: m.to, Path: "local"})
	e.waitUntil(m, "expired")
}

// waitUntil makes a message wait until its deadline at most; why is the reason if it passes.
//
//go:noinline
func (e *Engine) waitUntil(m *message, why string) {
	m.why, m.alarmAt = why, m.deadline
	e.at(m.id, m)
}

// ring is a message's deadline while it waits here, or that no answer came.
func (m *message) ring(e *Engine) {
	m.alarmAt = 0
	if m.settled {
		e.emit(&GiveUpAnswer{Msg: m.msg})
		e.forget(m)
		return
	}
	why := m.why
	if m.lookup != nil {
		why = m.lookup.why(e)
	}
	e.reject(m, why, m.handed != 0 || m.again)
}

// settle tells the sender what became of a message, once, and frees its content.
func (e *Engine) settle(m *message, s Settle) {
	if m.settled {
		return
	}
	m.settled = true
	s.Msg = m.msg
	x := e.lent.over.Lend()
	if x == nil {
		x = e.lent.over.Add(new(over))
	}
	x.settle, x.release.Msg = s, m.msg
	e.emit(&x.settle)
	e.emit(&x.release)
	e.leave(m)
	m.alarmAt = 0
	if m.handed != 0 {
		e.handed.Remove(m.handed)
	}
	e.endAgain(m)
	if s.Outcome == "rejected" || m.answer == 0 || m.replied {
		e.forget(m)
		return
	}
	m.alarmAt = e.now + m.answer
	e.at(m.id, m)
}

//go:noinline
func (e *Engine) reject(m *message, reason string, maybe bool) {
	e.settle(m, Settle{Outcome: "rejected", Reason: reason, Maybe: maybe})
}

// leave takes a message out of where it waits.
func (e *Engine) leave(m *message) {
	if m.lookup != nil {
		m.lookup.leave(e, m)
	}
	if m.node != nil {
		m.node.leave(m)
	}
	if !m.peer.IsZero() {
		m.peer = address.Address{}
		e.landed(m.flight)
	}
}

// launch counts a message that the session with its peer has.
func (e *Engine) launch(m *message) {
	f := flight{m.to.Entity(), m.peer}
	x := e.launched
	if x == nil || x.flight != f {
		if x != nil && x.count == 0 {
			delete(e.flights, x.flight)
		}
		if x = e.flights[f]; x == nil {
			x = &aloft{flight: f}
			e.flights[f] = x
		}
		e.launched = x
	}
	x.count++
	m.flight = x
}

// landed notes that the session with a peer has one message less to an entity. When none is left, those that wait for it go on.
func (e *Engine) landed(f *aloft) {
	if f.count--; f.count > 0 {
		return
	}
	if f != e.launched {
		delete(e.flights, f.flight)
	}
	if l := e.lookups[f.entity]; l != nil && l.draining == f.peer {
		l.draining = address.Address{}
		l.release(e)
	}
}

func (e *Engine) answerReceived(msg uint64) {
	m := e.messages.Get(msg)
	if m == nil {
		return
	}
	m.replied = true
	if m.settled {
		m.alarmAt = 0
		e.forget(m)
	}
}

var reasons = map[session.Outcome]string{
	session.Expired:          "expired",
	session.ExpiredNoNode:    "no-message-node",
	session.ExpiredNoRuntime: "no-such-runtime",
	session.TooBig:           "too-big",
	session.Reset:            "session-reset",
	session.Closed:           "closed",
	session.Superseded:       superseded,
	session.PeerNoListener:   "no-listener",
	session.PeerNotBound:     "not-bound",
	session.PeerUnsupported:  "unsupported-payload",
	session.PeerForbidden:    "refused",
}

// sessionSettled learns from a session what became of a message.
func (e *Engine) sessionSettled(a *session.Settled) {
	m := e.messages.Get(a.Msg)
	if m == nil || m.settled {
		return
	}
	switch a.Outcome {
	case session.Delivered:
		e.settle(m, Settle{Outcome: "delivered"})
	case session.PeerMoved:
		m.moves++
		e.follow(m)
	case session.Unsent:
		e.follow(m)
	case session.Legacy:
		e.goPlain(m)
	default:
		e.reject(m, reasons[a.Outcome], a.Maybe)
	}
}

// follow sends a message after an entity that is not where its entry said.
func (e *Engine) follow(m *message) {
	entity, from := m.to.Entity(), m.peer
	if m.flight == nil || m.to.Class() != address.Entity || m.moves > e.numbers.Moves {
		e.reject(m, "no-listener", false)
		return
	}
	if known := e.resolver.Known(entity); known != nil && known.Runtime == from {
		e.resolver.Forget(entity)
	}
	l := e.lookup(entity, entity.Domain())
	f := m.flight
	if f.count > 1 {
		l.draining = from
	}
	// It waits with the others before the last of them leaves its former place, which sends all of them on.
	m.peer = address.Address{}
	l.join(e, m)
	e.landed(f)
}

// goPlain sends a message as plain JSON after all: the peer has no sessions.
func (e *Engine) goPlain(m *message) {
	entity := m.to.Entity()
	if known := e.resolver.Known(entity); known != nil && known.Runtime == m.peer {
		e.resolver.Remember(entity, 200, m.peer, false)
	}
	e.leave(m)
	m.plain = true
	e.node(m.to.Domain()).forward(e, m)
}

package engine

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/session"
)

// lookup is a question about an entity to its Domain Registry, and who waits for the answer (steps 9-14). There is one for
// an entity at a time.
type lookup struct {
	id       uint64
	entity   address.Address
	node     *node
	job      uint64 // 0: not asked now
	tries    uint64
	code     uint64 // of the last answer
	watching bool   // <entity>/registration is subscribed
	watchJob uint64 // of that; 0: answered
	waiting  []*message
	bytes    int
	arrivals []*session.Arrived // messages whose sender has to be bound first
	draining address.Address    // the runtime where it was: it still has earlier messages
	alarmAt  uint64             // READ deadline, or when it is asked again
}

func (l *lookup) number() uint64 { return l.id }
func (l *lookup) due() uint64    { return l.alarmAt }
func (l *lookup) stubOf() uint64 { return l.node.stub }

// holds says whether messages for the entity have to wait behind others.
func (l *lookup) holds() bool { return len(l.waiting) > 0 || !l.draining.IsZero() }

// holdsHere says whether messages for an address that listens here have to wait behind others for it.
func (l *lookup) holdsHere(to address.Address) bool {
	for _, m := range l.waiting {
		if m.to == to {
			return true
		}
	}
	return !l.draining.IsZero()
}

// here says whether somebody listens here whom one of those that wait is for.
func (l *lookup) here(e *Engine) bool {
	for _, m := range l.waiting {
		if e.resolver.Listens(m.to) {
			return true
		}
	}
	return false
}

// lookup is the question about an entity; it is asked if it was not yet.
func (e *Engine) lookup(entity address.Address, domain string) *lookup {
	l := e.lookups[entity]
	if l == nil {
		l = &lookup{id: e.newID(), entity: entity, node: e.node(domain)}
		e.lookups[entity] = l
		l.begin(e)
	}
	return l
}

// begin asks, unless the registry said only just now that there is nothing.
func (l *lookup) begin(e *Engine) {
	known := e.resolver.Known(l.entity)
	if known == nil || !l.node.live {
		l.ask(e)
		return
	}
	l.code = known.Code
	l.watchIfAbsent(e)
	l.alarmAt = known.Until()
	e.at(l.id, l)
}

// watchIfAbsent subscribes to the registration of an entity that has no entry.
func (l *lookup) watchIfAbsent(e *Engine) {
	if l.code == 404 && !l.watching {
		l.watching = true
		l.watchJob = l.node.watch(e, l.entity.Join("registration"), (*subscription)(l))
	}
}

// ask sends the READ, if the node is there.
func (l *lookup) ask(e *Engine) {
	if l.job != 0 {
		return
	}
	l.alarmAt = 0
	if !l.node.live {
		return
	}
	l.job = e.newJob(l)
	e.emit(&QueryRegistry{
		Job: l.job, Stub: l.node.stub, Resource: l.entity,
		Registry: address.MustParse("domain://registry." + l.node.domain),
	})
	l.alarmAt = e.now + e.numbers.Read
	e.at(l.id, l)
}

func (e *Engine) askWaiting(n *node) {
	for _, l := range inOrder(e.lookups) {
		if l.node == n {
			l.ask(e)
		}
	}
}

// ring is the READ's deadline, or the time to ask again.
func (l *lookup) ring(e *Engine) {
	l.alarmAt = 0
	if l.job == 0 {
		l.ask(e)
		return
	}
	delete(e.jobs, l.job)
	l.answered(e, &RegistryAnswered{}) // no code: nobody said anything
}

func (l *lookup) join(e *Engine, m *message) {
	switch {
	case m.size > e.numbers.Session.Largest+session.Preface:
		e.reject(m, "too-big", false)
		l.endIfIdle(e)
		return
	case l.node.failed != "":
		e.reject(m, l.node.failed, false)
		l.endIfIdle(e)
		return
	}
	if full(len(l.waiting), l.bytes, m.size, &e.numbers) || len(e.lookups) > e.numbers.Lookups {
		e.reject(m, "too-many", false)
		l.endIfIdle(e)
		return
	}
	m.lookup = l
	l.bytes += m.size
	i := len(l.waiting)
	for i > 0 && l.waiting[i-1].id > m.id {
		i--
	}
	l.waiting = append(l.waiting, nil)
	copy(l.waiting[i+1:], l.waiting[i:])
	l.waiting[i] = m
	e.waitUntil(m, "")
	if l.job == 0 && l.code == 200 {
		l.ask(e) // an answer from before it moved
	}
}

func (l *lookup) leave(e *Engine, m *message) {
	m.lookup = nil
	for i, w := range l.waiting {
		if w == m {
			l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
			l.bytes -= m.size
			break
		}
	}
	l.endIfIdle(e)
}

func (l *lookup) endIfIdle(e *Engine) {
	if l.job == 0 && len(l.waiting) == 0 && len(l.arrivals) == 0 && l.draining.IsZero() {
		l.end(e)
	}
}

func (l *lookup) end(e *Engine) {
	if e.lookups[l.entity] != l {
		return
	}
	delete(e.lookups, l.entity)
	l.alarmAt = 0
	if l.watching {
		l.watching = false
		l.node.unwatch(e, l.entity.Join("registration"))
	}
}

// why is the reason for a message that waited here until its deadline.
func (l *lookup) why(e *Engine) string {
	switch {
	case !l.node.live:
		return "no-message-node"
	case l.code == 404:
		return "not-found"
	case l.code == 408:
		return "no-such-runtime"
	}
	return "no-answer"
}

// answered takes the registry's answer (steps 13-15).
func (l *lookup) answered(e *Engine, a *RegistryAnswered) {
	l.job, l.alarmAt = 0, 0
	before := e.resolver.Stale(l.entity)
	e.resolver.Remember(l.entity, a.Code, a.Runtime, a.Sessions)
	known := e.resolver.Stale(l.entity)
	l.code = known.Code
	if !known.Runtime.IsZero() {
		l.judge(e, known.Runtime)
		l.release(e)
		return
	}
	if l.code != 404 && before != nil && !before.Runtime.IsZero() {
		l.judge(e, before.Runtime) // it did not move, it is only away
	}
	if l.code == 404 || l.tries >= 2 {
		l.judge(e, address.Address{})
	}
	if len(l.waiting) == 0 && len(l.arrivals) == 0 && l.draining.IsZero() {
		l.end(e)
		return
	}
	if l.here(e) && l.draining.IsZero() {
		l.release(e)
		return
	}
	if len(l.waiting) > 0 {
		l.watchIfAbsent(e)
	}
	l.alarmAt = e.now + min(e.numbers.Again<<min(l.tries, 16), e.numbers.AgainMost)
	l.tries++
	e.at(l.id, l)
}

// subscription is the job of a lookup's subscription to <entity>/registration. The entry may have come between the answer that
// there is none and the subscription, so the registry is asked once more.
type subscription lookup

func (s *subscription) stubOf() uint64 { return s.node.stub }

func (s *subscription) answered(e *Engine, _ *RegistryAnswered) {
	l := (*lookup)(s)
	l.watchJob = 0
	if e.lookups[l.entity] == l && l.watching {
		l.ask(e)
	}
}

// judge lets pass the messages that came from where the entity lives, and refuses the others.
func (l *lookup) judge(e *Engine, runtime address.Address) {
	arrivals := l.arrivals
	l.arrivals = nil
	for _, a := range arrivals {
		if a.Peer == runtime {
			e.handOver(a)
		} else {
			e.refuseArrival(a, session.RefuseNotBound)
		}
	}
}

// release sends on what waited, in the order in which it was posted.
func (l *lookup) release(e *Engine) {
	if !l.draining.IsZero() || l.job != 0 {
		return
	}
	known := e.resolver.Known(l.entity)
	found := known != nil && !known.Runtime.IsZero()
	if found {
		l.judge(e, known.Runtime)
	} else if !l.here(e) {
		if len(l.waiting) > 0 && l.alarmAt == 0 {
			l.ask(e)
		}
		l.endIfIdle(e)
		return
	}
	waiting := l.waiting
	l.waiting, l.bytes = nil, 0
	if found {
		l.end(e)
	}
	for _, m := range waiting {
		m.lookup, m.alarmAt, m.looked = nil, 0, true
		e.dispatch(m)
	}
	l.endIfIdle(e)
	if len(l.waiting) > 0 && l.alarmAt == 0 {
		l.ask(e)
	}
}

// registrationNotified: the entry of an address changed.
func (e *Engine) registrationNotified(ev *RegistrationNotified) {
	entity := ev.Address.Entity()
	if before := e.resolver.Stale(entity); before != nil && ev.Status == "live" {
		e.sessions.PeerBack(before.Runtime)
	}
	e.resolver.Forget(entity)
	if l := e.lookups[entity]; l != nil && ev.Status == "live" {
		l.ask(e)
	}
}

// peerListed looks up what a peer says it hosts: it counts only as far as the Domain Registry says the same.
func (e *Engine) peerListed(ev *PeerListed) {
	for i, a := range ev.Addresses {
		if i == e.numbers.Listed || len(e.lookups) >= e.numbers.Lookups {
			return
		}
		if a.Class() == address.Entity && e.resolver.MayUse(a.Domain()) && e.resolver.Known(a.Entity()) == nil {
			e.lookup(a.Entity(), a.Domain()).endIfIdle(e)
		}
	}
}

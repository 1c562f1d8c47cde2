package engine

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/ledger"
	"github.com/hyroute/hyroute/runtime/resolver"
)

// restored begins a new life from the state of a former one (session.md 3.4; wasm/ABI.md, "A new life"). What was posted and is not
// settled goes on; what named something that the former life's body held is gone, and begins again where it is needed.
func (e *Engine) restored(ev *Restored) {
	e.random.Reseed(ev.Seed)
	e.config.Wall, e.config.Seed = ev.Wall-min(ev.Wall, e.now), ev.Seed
	e.config.Domains, e.config.Direct = ev.Domains, ev.Direct
	e.woken, e.closed = 0, false
	e.resolver = resolver.New(e.config.Runtime, e.config.Domains, e.config.Direct, e.numbers.Resolver)
	e.resolver.Advance(e.now)
	e.jobs = map[uint64]job{}
	e.routes = map[flow]*route{}
	e.restoreNodes(ev.Wall)
	e.restoreEndpoints()
	e.restoreMessages()
	e.restoreLookups()
	e.restorePeerings()
}

// restoreNodes deploys all node stubs anew.
func (e *Engine) restoreNodes(wall uint64) {
	renamed := map[uint64]uint64{}
	for _, n := range e.nodes {
		was := *n
		*n = node{
			id: was.id, stub: e.newStub(), domain: was.domain, lostAt: e.now, waiting: was.waiting, bytes: was.bytes, watched: was.watched,
		}
		renamed[was.stub] = n.stub
		e.resolver.SetNode(n.domain, n.stub)
		e.emit(&DeployNodeStub{Stub: n.stub, Domain: n.domain})
	}
	e.sessions.Restored(wall, func(stub uint64) uint64 { return renamed[stub] })
}

// restoreEndpoints forgets who listened. An entry that was to be deleted still is.
func (e *Engine) restoreEndpoints() {
	for _, p := range e.endpoints {
		p.alarmAt = 0
	}
	e.endpoints = map[address.Address]*endpoint{}
	for _, f := range e.farewells {
		f.job = 0
	}
}

// restoreMessages takes back what listeners had in hand. Those who posted the others had been asked who they are.
func (e *Engine) restoreMessages() {
	e.handed = ledger.Ledger[*handed]{}
	for _, m := range sorted(e.messages.Values()) {
		m.vouched = true
		if m.handed != 0 {
			m.handed = 0
			m.again = true
			e.again++
		}
	}
}

// restoreLookups asks again for those who wait. What came in and waited comes again from its sender.
func (e *Engine) restoreLookups() {
	for _, l := range inOrder(e.lookups) {
		l.job, l.watchJob, l.alarmAt = 0, 0, 0
		l.tries, l.code = 0, 0
		l.arrivals = nil
		l.endIfIdle(e)
	}
}

// restorePeerings wants connections to those peers for whom there is something to send.
func (e *Engine) restorePeerings() {
	busy := map[address.Address]bool{}
	for f, x := range e.flights {
		busy[f.peer] = busy[f.peer] || x.count > 0
	}
	e.stubs, e.engaged = map[uint64]*peering{}, 0
	for _, p := range e.peerings {
		p.over()
		*p = peering{id: p.id, peer: p.peer, past: p.past, sent: p.sent, wanted: p.sent && busy[p.peer]}
	}
}

// offerAgain hands over, to somebody who listens at an address now, what a listener of a former life was given and did not take.
func (e *Engine) offerAgain(to address.Address) {
	if e.again == 0 {
		return
	}
	for _, m := range sorted(e.messages.Values()) {
		if m.again && m.to == to {
			e.endAgain(m)
			e.deliverHere(m)
		}
	}
}

func (e *Engine) endAgain(m *message) {
	if m.again {
		m.again = false
		e.again--
	}
}

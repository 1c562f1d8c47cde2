package engine

import "github.com/hyroute/hyroute/runtime/address"

// node is the Message Node stub of a domain.
type node struct {
	id        uint64
	stub      uint64
	domain    string
	live      bool
	failed    string // why it will not come back; empty: it may
	tries     uint64
	liveSince uint64
	lostAt    uint64     // when it was live last, or deployed
	waiting   []*message // plain messages, until it is live
	bytes     int
	watched   []address.Address // what is subscribed beside the endpoints
	probeJob  uint64            // a question that shows whether the connection lives; 0: none is open
	alarmAt   uint64            // when it is connected again, or the probe has to be answered
}

func (n *node) number() uint64 { return n.id }
func (n *node) due() uint64    { return n.alarmAt }

// node is the stub of a domain, deployed if need be.
func (e *Engine) node(domain string) *node {
	for _, n := range e.nodes {
		if n.domain == domain {
			return n
		}
	}
	n := &node{id: e.newID(), stub: e.newStub(), domain: domain, lostAt: e.now}
	e.nodes = append(e.nodes, n)
	e.resolver.SetNode(domain, n.stub)
	e.emit(&DeployNodeStub{Stub: n.stub, Domain: domain})
	return n
}

func (e *Engine) nodeOf(stub uint64) *node {
	for _, n := range e.nodes {
		if n.stub == stub {
			return n
		}
	}
	return nil
}

// vouches says whether the node of a stub is believed when it says that a frame is from a runtime of that domain: our own node is,
// for all domains that may be used, and a foreign one for its own domain.
func (e *Engine) vouches(stub uint64, domain string) bool {
	n := e.nodeOf(stub)
	return n != nil && e.resolver.MayUse(domain) && (n.domain == e.config.Runtime.Domain() || n.domain == domain)
}

func (e *Engine) stubChanged(ev *StubChanged) {
	if n := e.nodeOf(ev.Stub); n != nil {
		e.nodeChanged(n, ev)
		return
	}
	if p := e.stubs[ev.Stub]; p != nil {
		e.peerStubChanged(p, ev)
	}
}

func (e *Engine) nodeChanged(n *node, ev *StubChanged) {
	switch ev.Status {
	case StatusLive:
		e.jobsLost(n.stub) // it is a new socket, whatever was said of the last one
		n.live, n.liveSince, n.alarmAt, n.probeJob = true, e.now, 0, 0
		e.sessions.RelayOpened(n.stub)
		e.announce(n, ev.Resumed)
		e.askWaiting(n)
		n.flush(e)
		for _, p := range inOrder(e.peerings) {
			switch {
			case p.peer.Domain() != n.domain:
			case p.wanted:
				e.wantDirect(p.peer)
			case e.restarting(p):
				e.askRestart(p) // what was said before may be lost with the last socket
			}
		}
	case StatusDisconnected, StatusFailed:
		wasLive := n.live
		n.lost(e)
		if wasLive && e.now >= n.liveSince+e.numbers.Settled {
			n.tries = 0
		}
		if ev.Status == StatusFailed {
			n.giveUp(e, ev.Reason)
			return
		}
		if n.alarmAt != 0 {
			return
		}
		most := min(e.numbers.Reconnect<<min(n.tries, 16), e.numbers.ReconnectMax)
		if e.now < n.lostAt+e.numbers.Soon {
			most = min(most, e.numbers.ReconnectSoon)
		}
		n.tries++
		n.alarmAt = e.now + 1 + e.random.Below(most)
		e.at(n.id, n)
	}
}

// lost notes that there is no connection.
func (n *node) lost(e *Engine) {
	if n.live {
		n.lostAt = e.now
	}
	n.live = false
	if n.probeJob != 0 {
		n.probeJob, n.alarmAt = 0, 0
	}
	e.sessions.RelayGone(n.stub)
	e.jobsLost(n.stub)
}

// giveUp rejects what waits for a node that will not come back: its socket was taken over by a twin, or it refused us.
func (n *node) giveUp(e *Engine, reason string) {
	n.failed, n.alarmAt = "no-message-node", 0
	twin := reason == superseded // it may have begun from a state that holds what waits here, and deliver it
	if twin {
		n.failed = reason
		e.sessions.Supersede(e.putOut)
		for _, p := range inOrder(e.peerings) {
			if e.putOut(p.peer.Domain()) {
				e.hangUp(p)
			}
		}
	}
	for _, m := range append([]*message(nil), n.waiting...) {
		e.reject(m, n.failed, twin || m.handed != 0 || m.again)
	}
	for _, l := range inOrder(e.lookups) {
		if l.node == n {
			for _, m := range append([]*message(nil), l.waiting...) {
				e.reject(m, n.failed, twin)
			}
		}
	}
}

// superseded is why a stub failed whose socket was taken over by a twin of this runtime.
const superseded = "superseded"

// putOut says whether a twin of this runtime took its place for the peers of a domain: at that domain's node, or at our own, which
// speaks for all.
func (e *Engine) putOut(domain string) bool {
	for _, n := range e.nodes {
		if n.failed == superseded && (n.domain == domain || n.domain == e.config.Runtime.Domain()) {
			return true
		}
	}
	return false
}

// ring connects again: the pause is over, or the node did not answer the probe.
func (n *node) ring(e *Engine) {
	if n.live {
		n.lost(e)
	}
	n.alarmAt = 0
	e.emit(&ConnectStub{Stub: n.stub})
}

// forward sends a plain message now, or as soon as the node is there.
func (n *node) forward(e *Engine, m *message) {
	if n.live {
		n.send(e, m)
		return
	}
	if n.failed != "" {
		e.reject(m, n.failed, false)
		return
	}
	if full(len(n.waiting), n.bytes, m.size, &e.numbers) {
		e.reject(m, "too-many", false)
		return
	}
	m.node = n
	n.waiting = append(n.waiting, m)
	n.bytes += m.size
	e.waitUntil(m, "no-message-node")
}

// full says whether a queue of so many messages and bytes takes no more. An empty one takes anything.
func full(length, bytes, size int, n *Numbers) bool {
	return length >= n.Waiting || length > 0 && bytes+size > n.WaitingBytes
}

func (n *node) send(e *Engine, m *message) {
	e.emit(&Forward{Msg: m.msg, Stub: n.stub})
	if m.handed == 0 && !m.again { // else the listener here decides
		e.settle(m, Settle{Outcome: "taken"})
	}
}

func (n *node) flush(e *Engine) {
	waiting := n.waiting
	n.waiting, n.bytes = nil, 0
	for _, m := range waiting {
		m.node = nil
		if m.handed == 0 && !m.again {
			m.alarmAt = 0
		}
		n.send(e, m)
	}
}

func (n *node) leave(m *message) {
	m.node = nil
	for i, w := range n.waiting {
		if w == m {
			n.waiting = append(n.waiting[:i:i], n.waiting[i+1:]...)
			n.bytes -= m.size
			return
		}
	}
}

// watch subscribes an address at the node for as long as unwatch was not called. j hears when the node did.
func (n *node) watch(e *Engine, a address.Address, j job) (asked uint64) {
	n.watched = append(n.watched, a)
	if n.live {
		asked = e.newJob(j)
		e.emit(&Subscribe{Job: asked, Stub: n.stub, Addresses: []address.Address{a}})
	}
	return asked
}

func (n *node) unwatch(e *Engine, a address.Address) {
	for i, w := range n.watched {
		if w == a {
			n.watched = append(n.watched[:i:i], n.watched[i+1:]...)
			if n.live {
				e.emit(&Unsubscribe{Job: e.newJob(nil), Stub: n.stub, Addresses: []address.Address{a}})
			}
			return
		}
	}
}

// jobsLost forgets the questions that a dead socket will not answer; who asked them asks again when there is a new one.
func (e *Engine) jobsLost(stub uint64) {
	for id, j := range e.jobs {
		if j.stubOf() == stub {
			delete(e.jobs, id)
		}
	}
	for _, l := range inOrder(e.lookups) {
		if l.node.stub != stub {
			continue
		}
		l.watchJob = 0
		if l.job != 0 {
			l.job, l.alarmAt = 0, 0
		}
	}
	for _, f := range e.farewells {
		if f.node.stub == stub {
			f.job = 0
		}
	}
	for _, p := range inOrder(e.endpoints) {
		if p.node != nil && p.node.stub == stub {
			p.state, p.job, p.alarmAt = unannounced, 0, 0
		}
	}
}

package engine

import "github.com/hyroute/hyroute/runtime/address"

// networkChanged distrusts what the old network carried, and looks for other paths at once: sockets and paths of a network
// that is gone say nothing of their end. The traffic goes on by the relay meanwhile.
func (e *Engine) networkChanged() {
	e.sessions.NetworkChanged()
	for _, n := range e.nodes {
		n.networkChanged(e)
	}
	for _, p := range inOrder(e.peerings) {
		if !p.refused {
			p.held = min(p.held, e.now)
		}
		if p.state == together {
			e.restart(p)
		}
	}
}

// networkChanged connects at once, or asks the node of a connection something: it is made anew if no answer comes soon.
func (n *node) networkChanged(e *Engine) {
	switch {
	case n.failed != "" || n.probeJob != 0:
	case n.live:
		n.probeJob = e.newJob((*probe)(n))
		e.emit(&QueryRegistry{
			Job: n.probeJob, Stub: n.stub, Registry: address.MustParse("domain://registry." + n.domain),
			Resource: address.MustParse("hyperty://" + n.domain + "/" + e.config.Runtime.ID()),
		})
		n.alarmAt = e.now + e.numbers.Probe
		e.at(n.id, n)
	default:
		n.tries, n.alarmAt = 0, 0
		e.emit(&ConnectStub{Stub: n.stub})
	}
}

// probe is a question to a node of which any answer will do.
type probe node

func (p *probe) stubOf() uint64 { return p.stub }

func (p *probe) answered(*Engine, *RegistryAnswered) { p.probeJob, p.alarmAt = 0, 0 }

// restart begins to look for other paths for an open connection. The side that makes the offers does it; the other one asks it.
func (e *Engine) restart(p *peering) {
	if e.offers(p) {
		p.generation++
	}
	p.restarted, p.until, p.tries = e.now, e.now+e.numbers.Connect, 0
	e.askRestart(p)
}

// restarting says whether a restart is under way: none of the connection's paths has proven itself since it began, and its time
// is not over. What becomes of a connection that it does not help is the sessions' and the body's to say.
func (e *Engine) restarting(p *peering) bool {
	if p.state != together || p.until == 0 {
		return false
	}
	if _, usable, _ := e.sessions.Channels(p.peer); usable || e.now >= p.until {
		p.until, p.alarmAt = 0, 0
		return false
	}
	return true
}

// askRestart says it, and again after a while, for signals get lost with the sockets that a change of network kills; it asks
// the path too, which may be idle.
func (e *Engine) askRestart(p *peering) {
	if e.offers(p) {
		e.emit(&RestartPeer{Stub: p.stub, Generation: p.generation})
	} else {
		e.emit(&Signal{Peer: p.peer, Kind: "restart", Attempt: p.attempt})
	}
	e.sessions.AskChannels(p.peer)
	p.alarmAt = min(e.now+e.numbers.Invite<<min(p.tries, 16), p.until)
	p.tries++
	e.at(p.id, p)
}

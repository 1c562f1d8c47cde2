package engine

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/resolver"
)

// peering is the setting up and the life of a peer connection to one runtime (steps 18-22, behind the traffic).
type peering struct {
	id      uint64
	peer    address.Address
	state   peeringState
	attempt uint64
	stub    uint64
	fails   uint64
	held    uint64 // not tried again before
	upSince uint64
	sent    bool   // this runtime has sent to that peer
	wanted  bool   // a connection is to be set up as soon as the node is there
	until   uint64 // deadline of the attempt
	tries   uint64 // invitations sent in it
	alarmAt uint64 // the deadline, or the next invitation

	past       []uint64 // attempts that are over, the oldest first: late signals of them mean nothing
	refused    bool     // held because the peer does not want one
	generation uint64   // of the paths of this connection: counts the restarts
	restarted  uint64   // when the last restart began
}

// pastMost is how many attempts are remembered of each peer.
const pastMost = 4

type peeringState uint8

const (
	apart     peeringState = iota
	inviting               // invited, no word yet
	accepted               // we accepted: the offer is to come
	dialing                // we offered
	answering              // we answered
	together               // the data channel is open
)

func (p *peering) number() uint64 { return p.id }
func (p *peering) due() uint64    { return p.alarmAt }

func (e *Engine) peering(peer address.Address) *peering {
	if p := e.courted; p != nil && p.peer == peer {
		return p
	}
	p := e.peerings[peer]
	if p == nil {
		p = &peering{id: e.newID(), peer: peer}
		e.peerings[peer] = p
	}
	e.courted = p
	return p
}

// offers says which side makes the offers: the lower runtime URL.
func (e *Engine) offers(p *peering) bool { return e.config.Runtime.Less(p.peer) }

// wantDirect invites a peer to a connection, unless there is one, or one is being set up, or it is not time yet.
func (e *Engine) wantDirect(peer address.Address) {
	p := e.peering(peer)
	p.sent = true
	if p.state != apart || e.now < p.held || e.engaged >= e.numbers.Connections || e.putOut(peer.Domain()) {
		return
	}
	if n := e.node(peer.Domain()); !n.live {
		p.wanted = true
		return
	}
	p.wanted = false
	if _, _, hold := e.sessions.Channels(peer); e.now < hold {
		return
	}
	p.attempt, p.tries = uint64(e.random.Nonce()), 0
	e.enter(p, inviting)
	e.invite(p)
}

// invite sends the invitation, and again after a while: the peer may not have been attached to its node, and whatever it
// answered may have been lost with a socket.
func (e *Engine) invite(p *peering) {
	e.emit(&Signal{Peer: p.peer, Kind: "invite", Attempt: p.attempt})
	p.alarmAt = min(e.now+e.numbers.Invite<<min(p.tries, 16), p.until)
	p.tries++
	e.at(p.id, p)
}

// enter moves to a state that has to lead on within a time.
func (e *Engine) enter(p *peering, s peeringState) {
	if p.state == apart {
		e.engaged++
	}
	p.state = s
	p.until = e.now + e.numbers.Connect
	p.alarmAt = p.until
	e.at(p.id, p)
}

func (p *peering) ring(e *Engine) {
	p.alarmAt = 0
	switch {
	case p.state == together:
		if e.restarting(p) {
			e.askRestart(p)
		}
		return
	case p.state == inviting && e.now < p.until:
		e.invite(p)
		return
	}
	e.hangUp(p)
	e.hold(p, "timed-out")
}

// hangUp ends an attempt or a connection, and tells the peer.
func (e *Engine) hangUp(p *peering) {
	if p.state == apart {
		return
	}
	e.emit(&Signal{Peer: p.peer, Kind: "bye", Attempt: p.attempt})
	e.part(p, "closed")
}

// part forgets the attempt or connection.
func (e *Engine) part(p *peering, why string) {
	if p.stub != 0 {
		e.emit(&CloseStub{Stub: p.stub})
		delete(e.stubs, p.stub)
		e.sessions.ChannelGone(p.stub, why)
	}
	if p.state != apart {
		e.engaged--
		p.over()
	}
	p.state, p.stub, p.attempt, p.alarmAt, p.until, p.generation = apart, 0, 0, 0, 0, 0
	e.resolver.SetPeer(p.peer, resolver.PeerStub{})
}

// hold keeps the next try off for a while that doubles with each failure.
//
//go:noinline
func (e *Engine) hold(p *peering, why string) {
	if p.upSince != 0 && e.now >= p.upSince+e.numbers.HoldMost {
		p.fails = 0
	}
	p.upSince = 0
	pause := min(e.numbers.Hold<<min(p.fails, 16), e.numbers.HoldMost)
	p.refused = why == "refused"
	if p.refused {
		pause = e.numbers.Refused
	}
	p.fails++
	p.held = e.now + pause
}

func (e *Engine) signalReceived(ev *SignalReceived) {
	if !ev.Peer.IsRuntime() || ev.Peer == e.config.Runtime || ev.Attempt == 0 {
		return
	}
	if ev.Kind == "invite" {
		e.invitedBy(ev)
		return
	}
	p := e.peerings[ev.Peer]
	if p == nil || p.attempt != ev.Attempt {
		if ev.Kind == "offer" {
			e.emit(&Signal{Peer: ev.Peer, Kind: "bye", Attempt: ev.Attempt})
		}
		return
	}
	switch ev.Kind {
	case "accept":
		if p.state == inviting && e.offers(p) {
			e.dial(p)
		}
	case "refuse":
		if p.state == inviting {
			e.part(p, "refused")
			e.hold(p, "refused")
		}
	case "offer":
		if (p.state == inviting || p.state == accepted) && !e.offers(p) {
			e.connecting(p, answering)
			e.emit(&AnswerPeer{Stub: p.stub, Peer: p.peer, Attempt: p.attempt})
		}
	case "restart":
		if p.state == together && e.offers(p) && !e.restarting(p) && (p.restarted == 0 || e.now >= p.restarted+e.numbers.Restart) {
			e.restart(p)
		}
	case "bye":
		e.part(p, "peer-closed")
		e.hold(p, "peer-closed")
	}
}

// invitedBy answers an invitation: the lower URL offers at once, the higher one says accept.
func (e *Engine) invitedBy(ev *SignalReceived) {
	if p := e.peerings[ev.Peer]; p != nil && p.isPast(ev.Attempt) {
		return
	}
	if !e.welcome(ev.Peer) {
		e.emit(&Signal{Peer: ev.Peer, Kind: "refuse", Attempt: ev.Attempt})
		return
	}
	p := e.peering(ev.Peer)
	if p.state == inviting && e.offers(p) {
		return // both invited: the attempt of the lower URL stands
	}
	if p.attempt == ev.Attempt {
		if p.state == accepted { // our answer was lost
			e.emit(&Signal{Peer: p.peer, Kind: "accept", Attempt: p.attempt})
		}
		return
	}
	if p.state != apart {
		e.part(p, "peer-restarted")
	}
	p.attempt = ev.Attempt
	if e.offers(p) {
		e.dial(p)
		return
	}
	e.enter(p, accepted)
	e.emit(&Signal{Peer: p.peer, Kind: "accept", Attempt: p.attempt})
}

// over notes that the attempt is over.
func (p *peering) over() {
	if p.state == apart {
		return
	}
	if p.past = append(p.past, p.attempt); len(p.past) > pastMost {
		p.past = p.past[1:]
	}
}

func (p *peering) isPast(attempt uint64) bool {
	for _, a := range p.past {
		if a == attempt {
			return true
		}
	}
	return false
}

// welcome is the answering side's own policy: peers of the own domain and peers that it has sent to, within limits.
func (e *Engine) welcome(peer address.Address) bool {
	p := e.peerings[peer]
	known := peer.Domain() == e.config.Runtime.Domain() || p != nil && p.sent
	if !e.config.Direct || !known || !e.resolver.MayUse(peer.Domain()) || e.putOut(peer.Domain()) {
		return false
	}
	if p != nil && p.state != apart {
		return true
	}
	if e.engaged >= e.numbers.Connections {
		return false
	}
	for len(e.invited) > 0 && e.invited[0]+60_000 <= e.now {
		e.invited = e.invited[1:]
	}
	if len(e.invited) >= e.numbers.PerMinute {
		return false
	}
	e.invited = append(e.invited, e.now)
	return true
}

func (e *Engine) dial(p *peering) {
	e.connecting(p, dialing)
	e.emit(&DialPeer{Stub: p.stub, Peer: p.peer, Attempt: p.attempt})
}

func (e *Engine) connecting(p *peering, s peeringState) {
	p.stub = e.newStub()
	e.stubs[p.stub] = p
	e.resolver.SetPeer(p.peer, resolver.PeerStub{Stub: p.stub})
	e.enter(p, s)
}

func (e *Engine) peerStubChanged(p *peering, ev *StubChanged) {
	switch ev.Status {
	case StatusLive:
		if p.state == together {
			return
		}
		p.state, p.alarmAt, p.until, p.upSince, p.restarted = together, 0, 0, e.now, 0
		e.sessions.ChannelOpened(p.peer, e.node(p.peer.Domain()).stub, p.stub)
		e.list(p)
	case StatusDisconnected, StatusFailed:
		why := ev.Reason
		if why == "" {
			why = "closed"
		}
		e.emit(&Signal{Peer: p.peer, Kind: "bye", Attempt: p.attempt})
		e.part(p, why)
		e.hold(p, why)
	}
}

// list tells a peer which addresses live here: a hint for it.
func (e *Engine) list(p *peering) {
	var list []address.Address
	for _, x := range inOrder(e.endpoints) {
		if x.address.Class() == address.Entity && len(list) < e.numbers.Listed {
			list = append(list, x.address)
		}
	}
	if len(list) > 0 {
		e.emit(&Signal{Peer: p.peer, Kind: "list", Attempt: p.attempt, Addresses: list})
	}
}

// closePeerStub closes a connection that the sessions do not want any more.
func (e *Engine) closePeerStub(stub uint64, why string) {
	p := e.stubs[stub]
	if p == nil {
		e.emit(&CloseStub{Stub: stub})
		return
	}
	e.emit(&Signal{Peer: p.peer, Kind: "bye", Attempt: p.attempt})
	e.part(p, why)
	e.hold(p, why)
}

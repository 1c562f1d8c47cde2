package world

import (
	"strconv"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// What ICE says of a path that carries nothing, and when, in ms (hints, and at last the end).
const (
	iceDisconnected = 6_000
	iceFailed       = 30_000
	dialLimit       = 20_000
	checking        = 60 // until a path that works is found
)

type pairKey struct{ low, high int }

// pair is the direct path between two bodies: all their data channels share its fate.
type pair struct {
	w        *World
	key      pairKey
	noPath   bool
	stopped  [2]bool // towards the low one, towards the high one
	stops    int     // counts changes of stopped
	channels []*channel
	made     int
}

// channel is a data channel, from the dial on.
type channel struct {
	pair    *pair
	attempt uint64
	ends    [2]*end // low, high; the high one is nil until it answers
	open    bool
	closed  bool
	losses  int  // how often an end changed its network: what was agreed on before is of no use
	lost    bool // and no other paths were found since
	agreed  bool // other paths are known to both ends, and may work yet
}

// end is one side of a channel.
type end struct {
	body *body
	life int
	stub *stub
	in   *pipe // towards this end
	gone bool
	hint bool // told disconnected
}

func (w *World) pair(a, b int) *pair {
	k := pairKey{min(a, b), max(a, b)}
	p := w.pairs[k]
	if p == nil {
		p = &pair{w: w, key: k}
		w.pairs[k] = p
	}
	return p
}

// dialPeer makes a peer connection at the dialler and sends the offer.
func (b *body) dialPeer(e *engine.DialPeer) {
	s := b.newStub(e.Stub, peerStub)
	s.peer, s.attempt = e.Peer, e.Attempt
	other := b.w.body(e.Peer)
	if other == nil {
		b.tellStub(s, engine.StatusFailed, false, "no-peer")
		return
	}
	c := &channel{pair: b.w.pair(b.index, other.index), attempt: e.Attempt}
	c.ends[0] = &end{body: b, life: b.life, stub: s}
	s.channel = c
	c.pair.channels = append(c.pair.channels, c)
	b.tellStub(s, engine.StatusInProgress, false, "")
	b.sendSignal(e.Peer, "offer", e.Attempt, nil, &negotiation{channel: c})
	b.w.after(dialLimit, func() {
		if !c.open {
			c.fail("timed-out")
		}
	})
}

// answerPeer answers an offer that came.
func (b *body) answerPeer(e *engine.AnswerPeer) {
	s := b.newStub(e.Stub, peerStub)
	s.peer, s.attempt = e.Peer, e.Attempt
	c := b.offers[offerKey{e.Peer, e.Attempt}]
	delete(b.offers, offerKey{e.Peer, e.Attempt})
	if c == nil || c.closed || c.ends[1] != nil {
		b.tellStub(s, engine.StatusFailed, false, "no-offer")
		return
	}
	c.ends[1] = &end{body: b, life: b.life, stub: s}
	s.channel = c
	b.tellStub(s, engine.StatusInProgress, false, "")
	b.sendSignal(e.Peer, "answer", e.Attempt, nil, &negotiation{channel: c})
}

// connect opens the channel once the answer has reached the dialler.
func (c *channel) connect() {
	if c.closed || c.open || c.ends[1] == nil || c.pair.noPath || c.pair.stopped[0] || c.pair.stopped[1] {
		return
	}
	w := c.pair.w
	c.open = true
	c.pair.made++
	delay := uint64(newChance(w.plan.Seed, "path "+strconv.Itoa(c.pair.made)+c.ends[0].body.name).between(1, 30))
	for i, e := range c.ends {
		from := c.ends[1-i].body
		e.in = w.newPipe("channel "+strconv.Itoa(c.pair.made)+from.name+e.body.name, delay, 4)
		e.in.rate = from.rate
		stub := c.ends[1-i].stub
		e.in.onMark = func(blocked bool) { from.tellMark(stub, blocked) }
	}
	for i, e := range c.ends {
		w.after(2*delay+uint64(i)*delay, func() {
			if !c.closed && !e.gone {
				e.body.tellStub(e.stub, engine.StatusLive, false, "")
			}
		})
	}
}

// send puts a frame on the channel.
func (c *channel) send(from *stub, f []byte) {
	for i, e := range c.ends {
		if e == nil || e.stub != from || !c.open || c.closed {
			continue
		}
		switch p := c.pair; p.w.choose(choiceChannel, 3) {
		case 1:
			p.halt(true, true)
			p.w.after(exploredDelay, func() { p.halt(false, false) })
		case 2:
			c.leave(from)
			e.body.tellStub(from, engine.StatusFailed, false, "closed")
			return
		}
		to := c.ends[1-i]
		to.in.send(len(f), func() {
			if !to.gone && to.body.life == to.life && !to.stub.closed {
				to.body.channelled(to.stub, f)
			}
		})
	}
}

// lose makes the channel carry nothing until its ends agree on other paths.
func (c *channel) lose() {
	if !c.open || c.closed {
		return
	}
	c.losses++
	c.lost, c.agreed = true, false
	losses, w := c.losses, c.pair.w
	c.obey()
	w.after(iceDisconnected, func() {
		if c.lost && c.losses == losses {
			c.hint(engine.StatusDisconnected)
		}
	})
	w.after(iceFailed, func() {
		if c.lost && c.losses == losses {
			c.fail("ice")
		}
	})
}

// restartPeer offers other paths for a channel. The answer finds the channel as it was, or it changed meanwhile.
func (b *body) restartPeer(e *engine.RestartPeer) {
	s := b.stub(e.Stub, "restart-peer")
	if s == nil {
		return
	}
	c := s.channel
	if c == nil || c.ends[0].stub != s || !c.open {
		b.w.fail("known-stub", "%s: restart-peer names stub %d, which is no open connection that it dialled", b.name, e.Stub)
		return
	}
	b.sendSignal(s.peer, "reoffer", s.attempt, nil, &negotiation{c, c.losses})
}

// negotiation is what an offer or an answer is about.
type negotiation struct {
	channel *channel
	losses  int
}

// renegotiated takes an offer or answer of other paths that came to b.
func (b *body) renegotiated(kind string, n *negotiation) {
	c := n.channel
	if c.closed || c.losses != n.losses {
		return
	}
	for _, e := range c.ends {
		if e.gone || e.life != e.body.life {
			return
		}
	}
	if kind == "reoffer" {
		b.sendSignal(c.ends[0].body.url, "reanswer", c.attempt, nil, n)
		return
	}
	c.agreed = true
	c.pair.w.after(checking, c.obey)
}

// leave closes one end; the other learns of it over the path, or by the silence.
func (c *channel) leave(s *stub) {
	for i, e := range c.ends {
		if e == nil || e.stub != s || e.gone {
			continue
		}
		e.gone = true
		other := c.ends[1-i]
		if !c.open || other == nil {
			c.closed = true
			return
		}
		e.in.close()
		other.in.send(10, func() { c.fail("closed") })
		c.pair.w.after(iceFailed, func() { c.fail("silent") })
	}
}

// vanish ends one end without a word; the other hears nothing any more.
func (c *channel) vanish(s *stub) {
	for i, e := range c.ends {
		if e == nil || e.stub != s || e.gone {
			continue
		}
		e.gone = true
		if other := c.ends[1-i]; c.open && other != nil {
			e.in.close()
			other.in.close()
		}
		c.pair.w.after(iceFailed, func() { c.fail("silent") })
	}
}

// fail ends the channel at all ends that still have it.
func (c *channel) fail(reason string) {
	if c.closed {
		return
	}
	c.closed = true
	for _, e := range c.ends {
		if e == nil {
			continue
		}
		if e.in != nil {
			e.in.close()
		}
		if !e.gone && e.life == e.body.life && e.body.alive && !e.stub.closed {
			e.body.tellStub(e.stub, engine.StatusFailed, false, reason)
		}
		e.gone = true
	}
}

// halt stops or frees the directions of a pair's path.
func (p *pair) halt(low, high bool) {
	p.stopped = [2]bool{low, high}
	p.stops++
	stops := p.stops
	for _, c := range p.channels {
		c.obey()
	}
	if !low && !high {
		return
	}
	p.w.after(iceDisconnected, func() {
		if p.stops == stops {
			p.hint(engine.StatusDisconnected)
		}
	})
	p.w.after(iceFailed, func() {
		if p.stops == stops {
			for _, c := range p.channels {
				c.fail("ice")
			}
		}
	})
}

// obey makes the pipes of a channel stand still or go on as the path does. A dead body's end stands still for good.
func (c *channel) obey() {
	if !c.open || c.closed {
		return
	}
	if c.agreed && !c.pair.noPath && c.pair.stopped == [2]bool{} {
		c.lost, c.agreed = false, false
	}
	for _, e := range c.ends {
		stop := c.pair.stopped[0]
		if e.body.index == c.pair.key.high {
			stop = c.pair.stopped[1]
		}
		switch {
		case stop || c.lost:
			e.in.stop()
		case e.in.stopped:
			e.in.thaw()
			if e.hint {
				e.hint = false
				e.body.tellStub(e.stub, engine.StatusLive, false, "")
			}
		}
	}
}

func (p *pair) hint(status engine.Status) {
	for _, c := range p.channels {
		c.hint(status)
	}
}

func (c *channel) hint(status engine.Status) {
	if !c.open || c.closed {
		return
	}
	for _, e := range c.ends {
		if !e.gone && !e.hint && e.life == e.body.life && e.body.alive {
			e.hint = true
			e.body.tellStub(e.stub, status, false, "ice")
		}
	}
}

type offerKey struct {
	peer    address.Address
	attempt uint64
}

// sendSignal sends a signed signal by the node of the peer's domain, or of our own.
func (b *body) sendSignal(peer address.Address, kind string, attempt uint64, list []address.Address, n *negotiation) {
	k := b.socketTo(peer.Domain())
	if k == nil {
		k = b.socketTo(b.domain)
	}
	if k == nil {
		return
	}
	from := b.url
	k.up.send(900, func() {
		to := k.node.attached[peer.String()]
		if !k.attached || to == nil {
			return
		}
		k.node.signal(to, func() { to.body.signalled(to, from, kind, attempt, list, n) })
	})
}

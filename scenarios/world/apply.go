package world

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// handlers do the actions of a plan.
var handlers = map[Verb]func(w *World, a Action){
	Post: doPost, Plain: doPlain, Kill: doKill, Crash: doCrash, Close: doClose, Trap: doTrap, Freeze: doFreeze, Stall: doStall, Cut: doCut, Restart: doRestart,
	Noise: doNoise, Answers: doAnswers, Stop: doStop, Break: doBreak, NoPath: doNoPath, Roam: doRoam, Slow: doSlow, Narrow: doNarrow, Block: doBlock,
	Move: doMove, Unregister: doUnregister, Lie: doLie, Stray: doStray, Explain: doExplain,
}

// end is when a fault that begins now is over.
func (w *World) end(a Action) uint64 { return min(w.now+a.For, max(w.plan.Until, w.now)) }

func (w *World) during(a Action, stop func()) { w.at(w.end(a), stop) }

func doPost(w *World, a Action) {
	b := w.bodies[a.Who]
	from, err1 := address.Parse(a.From)
	to, err2 := address.Parse(a.To)
	if err1 != nil || err2 != nil {
		return // a body does not take such an address
	}
	sizes := newChance(w.plan.Seed, a.String())
	for i := range a.Count {
		size := a.Size/2 + sizes.below(a.Size)
		w.after(uint64(i)*a.Every, func() {
			if b.alive && b.frozen == 0 && !b.closing {
				b.post(from, to, size, a)
			}
		})
	}
}

func doPlain(w *World, a Action) {
	n := w.nodes[a.Node]
	to, err := address.Parse(a.To)
	if err != nil {
		return
	}
	for i := range a.Count {
		w.after(uint64(i)*a.Every, func() {
			n.route(plain{from: address.MustParse(olderEndpoint(n.domain)), to: to})
		})
	}
}

// halfOpen is after how long a node finds out that a socket leads nowhere.
const halfOpen = 25_000

func (b *body) sockets() []*socket {
	var ks []*socket
	for _, id := range b.stubOrder {
		if k := b.stubs[id].socket; k != nil {
			ks = append(ks, k)
		}
	}
	return ks
}

func doKill(w *World, a Action) {
	b := w.bodies[a.Who]
	if !b.alive {
		return
	}
	b.perish(a.Mode == 1)
	w.during(a, func() {
		if !b.alive {
			b.start()
		}
	})
}

// perish ends a body. Nobody learns for a while that its sockets and channels are dead if they are half open.
func (b *body) perish(halfOpenSockets bool) {
	w := b.w
	sockets := b.sockets()
	var ends []*stub
	for _, id := range b.stubOrder {
		if s := b.stubs[id]; s.channel != nil {
			ends = append(ends, s)
		}
	}
	b.die()
	for _, k := range sockets {
		k.die(false, !halfOpenSockets)
		w.after(halfOpen, func() { k.die(false, true) })
	}
	for _, s := range ends {
		if !halfOpenSockets {
			s.channel.leave(s)
		} else {
			s.channel.vanish(s)
		}
	}
}

func doClose(w *World, a Action) {
	b := w.bodies[a.Who]
	if !b.alive || b.frozen > 0 || b.closing || b.doom != nil {
		return
	}
	b.closing = true
	b.tell(&engine.Closing{})
	life := b.life
	w.after(300, func() {
		if b.life == life && b.alive {
			doKill(w, a)
		}
	})
}

func doTrap(w *World, a Action) { w.bodies[a.Who].trap() }

func doFreeze(w *World, a Action) {
	b := w.bodies[a.Who]
	b.frozen++
	w.during(a, func() {
		b.frozen--
		b.resume()
	})
}

func doStall(w *World, a Action) {
	b := w.bodies[a.Who]
	b.nowHere()
	b.stalled = true
	b.stalls++
	stalls := b.stalls
	w.during(a, func() {
		if b.stalls == stalls {
			b.stalled = false
			b.resume()
		}
	})
}

func doCut(w *World, a Action) {
	b := w.bodies[a.Who]
	b.offline[a.Node] = w.end(a)
	for _, k := range b.sockets() {
		if k.node.number != a.Node {
			continue
		}
		k.die(a.Mode != 2, a.Mode != 1)
		late := uint64(8000)
		if a.Mode == 1 {
			late = halfOpen
		}
		w.after(late, func() { k.die(true, true) })
	}
}

func doRestart(w *World, a Action) {
	n := w.nodes[a.Node]
	n.up = false
	for _, b := range w.bodies {
		for _, k := range b.sockets() {
			if k.node == n {
				k.die(true, true)
			}
		}
	}
	n.forget(a.Mode == 1)
	w.during(a, func() { n.up = true })
}

func doNoise(w *World, a Action) {
	n := w.nodes[a.Node]
	n.lose, n.repeat, n.late, n.notice = a.Count, a.Size, int(a.Every), a.Mode == 1
	w.during(a, func() { n.lose, n.repeat, n.late = 0, 0, 0 })
}

func doAnswers(w *World, a Action) {
	n := w.nodes[a.Node]
	n.answerPercent, n.answerMode = a.Count, a.Mode
	w.during(a, func() { n.answerPercent = 0 })
}

func doStop(w *World, a Action) {
	if a.Who == a.Whom {
		return
	}
	p := w.pair(a.Who, a.Whom)
	low, high := true, true
	if a.Mode == 1 {
		low, high = a.Whom == p.key.low, a.Whom == p.key.high
	}
	p.halt(low, high)
	w.during(a, func() { p.halt(false, false) })
}

func doBreak(w *World, a Action) {
	b := w.bodies[a.Who]
	for _, id := range b.stubOrder {
		s := b.stubs[id]
		if s.channel == nil || s.channel.closed || s.peer != w.bodies[a.Whom].url {
			continue
		}
		s.channel.leave(s)
		b.tellStub(s, engine.StatusFailed, false, "closed")
	}
}

// overdue is after how long a body finds out by itself that a socket leads nowhere.
const overdue = 40_000

func doRoam(w *World, a Action) {
	b := w.bodies[a.Who]
	if !b.alive {
		return
	}
	for _, k := range b.sockets() {
		k.die(false, false)
		k.down.close()
		w.after(halfOpen, func() { k.die(false, true) })
		w.after(overdue, func() { k.die(true, true) })
	}
	for _, id := range b.stubOrder {
		if c := b.stubs[id].channel; c != nil {
			c.lose()
		}
	}
	if a.Mode == 0 {
		life := b.life
		w.after(uint64(b.chance.between(0, 300)), func() {
			if b.life == life {
				b.tell(&engine.NetworkChanged{})
			}
		})
	}
}

func doNoPath(w *World, a Action) {
	p := w.pair(a.Who, a.Whom)
	p.noPath = true
	w.during(a, func() {
		p.noPath = false
		for _, c := range p.channels {
			c.obey()
		}
	})
}

func doSlow(w *World, a Action) {
	b := w.bodies[a.Who]
	b.slow, b.slowUntil = a.Mode+1, w.end(a)
	w.during(a, func() { b.slow = 0 })
}

func doNarrow(w *World, a Action) {
	b := w.bodies[a.Who]
	b.narrow(a.Size)
	w.during(a, func() { b.narrow(0) })
}

// narrow limits what the body sends by each of its carriers.
func (b *body) narrow(rate int) {
	b.rate = rate
	if !b.alive {
		return
	}
	for _, id := range b.stubOrder {
		s := b.stubs[id]
		if s.socket != nil {
			s.socket.up.limit(rate)
		}
		if s.channel != nil && s.channel.open {
			for _, e := range s.channel.ends {
				if e.stub != s {
					e.in.limit(rate)
				}
			}
		}
	}
}

func doBlock(w *World, a Action) {
	b := w.bodies[a.Who]
	if !b.alive || b.forced {
		return
	}
	b.forced = true
	life, ids := b.life, append([]uint64(nil), b.stubOrder...)
	for _, id := range ids {
		b.tellBlocked(b.stubs[id], true)
	}
	w.during(a, func() {
		if b.life != life {
			return
		}
		b.forced = false
		for _, id := range ids {
			if s := b.stubs[id]; s != nil && !s.full() {
				b.tellBlocked(s, false)
			}
		}
	})
}

func (b *body) endpoint(a string) *endpoint {
	for _, e := range b.endpoints {
		if e.address.String() == a {
			return e
		}
	}
	return nil
}

func (b *body) leaveEndpoint(e *endpoint) {
	e.present = false
	b.tell(&engine.EndpointUnregistered{Address: e.address}, func() { e.told = e.present })
}

func doMove(w *World, a Action) {
	b, to := w.bodies[a.Who], w.bodies[a.Whom]
	e := b.endpoint(a.From)
	if e == nil || !e.present || b == to {
		return
	}
	b.leaveEndpoint(e)
	w.after(a.Every, func() {
		f := to.endpoint(a.From)
		if f == nil {
			f = &endpoint{address: e.address}
			to.endpoints = append(to.endpoints, f)
		}
		f.present = true
		to.register(f)
	})
}

func doUnregister(w *World, a Action) {
	b := w.bodies[a.Who]
	e := b.endpoint(a.From)
	if e == nil || !e.present {
		return
	}
	b.leaveEndpoint(e)
	w.during(a, func() {
		for _, other := range w.bodies {
			if f := other.endpoint(a.From); f != nil && f.present {
				return // it moved meanwhile
			}
		}
		e.present = true
		b.register(e)
	})
}

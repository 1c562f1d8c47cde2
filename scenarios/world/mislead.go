package world

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/frame"
)

// doLie tells a machine what is not true: a hint it must not believe, and a notification that only makes it ask again.
func doLie(w *World, a Action) {
	b := w.bodies[a.Who]
	to, err := address.Parse(a.To)
	if err != nil {
		return
	}
	b.tell(&engine.PeerListed{Peer: w.bodies[a.Whom].url, Addresses: []address.Address{to}})
	status := "live"
	if a.Mode == 1 {
		status = "disconnected"
	}
	b.tell(&engine.RegistrationNotified{Address: to, Status: status})
}

// doStray gives a machine events that belong to nothing, and frames that are none.
func doStray(w *World, a Action) {
	b := w.bodies[a.Who]
	if !b.alive {
		return
	}
	c := newChance(w.plan.Seed, a.String())
	stub := uint64(c.between(1, 6))
	other := w.bodies[a.Whom].url
	odd := uint64(1<<30 + c.below(1000))
	all := []func(){
		func() { b.tell(&engine.RegistryAnswered{Job: odd, Code: 200, Runtime: other, Sessions: true}) },
		func() { b.tell(&engine.RegistryAnswered{Job: odd, Code: 404}) },
		func() { b.tell(&engine.DeliveryTaken{Delivery: odd}) },
		func() { b.tell(&engine.DeliveryRefused{Delivery: odd, Reason: "unsupported-payload"}) },
		func() { b.tell(&engine.StubChanged{Stub: odd, Status: engine.StatusLive}) },
		func() { b.tell(&engine.StubBlocked{Stub: odd}) },
		func() { b.tell(&engine.StubWritable{Stub: odd}) },
		func() { b.tell(&engine.AnswerReceived{Msg: odd}) },
		func() { b.tell(&engine.EndpointUnregistered{Address: address.MustParse("hyperty://nowhere/never")}) },
		func() {
			kind := pick(c, "invite", "accept", "refuse", "offer", "bye", "restart", "nonsense")
			b.tell(&engine.SignalReceived{Peer: other, Kind: kind, Attempt: odd})
		},
		func() { b.tell(&engine.HandleNamed{Stub: odd, Handle: 7, Runtime: other}) },
		func() {
			b.tell(&engine.NoticeReceived{Stub: stub, Handle: odd, Reason: uint64(c.below(9)), Head: garbage(c)})
		},
		func() { b.gotFrame(stub, uint64(c.below(3)), append(garbage(c), 1, 2, 3)) },
		func() { b.gotFrame(odd, odd, append(garbage(c), 1, 2, 3)) },
		func() { b.tell(&engine.TimePassed{}) },
	}
	for range max(1, a.Count) {
		all[c.below(len(all))]()
	}
}

// garbage is a head whose length is right and whose rest is chance.
func garbage(c *chance) []byte {
	n := c.between(1, 40)
	g := frame.AppendVarint(nil, uint64(n))
	for i := range n {
		v := byte(c.next())
		if i == 0 && c.percent(70) {
			v = 0x40 | v&0x3e
		}
		g = append(g, v)
	}
	return g
}

func doExplain(w *World, a Action) {
	b := w.bodies[a.Who]
	from, err1 := address.Parse(a.From)
	to, err2 := address.Parse(a.To)
	if !b.alive || b.closing || err1 != nil || err2 != nil {
		return
	}
	b.numbers.explain++
	job := b.numbers.explain
	b.asked[job] = true
	wish := engine.WishDefault
	if a.Never {
		wish = engine.WishNever
	}
	b.tell(&engine.ExplanationAsked{Job: job, From: from, To: to, Wish: wish})
}

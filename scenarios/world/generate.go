package world

import "slices"

// Generate makes the plan of a seed.
func Generate(seed uint64) *Plan {
	c := newChance(seed, "plan")
	p := &Plan{Seed: seed, Until: uint64(c.between(5_000, 60_000))}
	domains := []string{"d.example"}
	if c.percent(25) {
		domains = append(domains, "e.example")
	}
	posts, faults, bodies := c.between(2, 8), c.between(0, 10), c.between(2, 3)
	if c.percent(12) { // a bad day
		posts, faults, bodies = c.between(5, 15), c.between(8, 30), c.between(2, 4)
	}
	for i := range bodies {
		d := domains[i%len(domains)]
		b := BodyPlan{Domain: d, Direct: c.percent(85)}
		for _, other := range domains {
			if other != d {
				b.Domains = append(b.Domains, other)
			}
		}
		for n := range c.between(1, 3) {
			b.Endpoints = append(b.Endpoints, "hyperty://"+d+"/"+string(rune('a'+i))+string(rune('0'+n)))
		}
		p.Bodies = append(p.Bodies, b)
	}
	g := generator{c: c, p: p}
	for range posts {
		g.post()
	}
	for range faults {
		g.fault()
	}
	slices.SortStableFunc(p.Actions, func(a, b Action) int { return int(a.At) - int(b.At) })
	return p
}

type generator struct {
	c *chance
	p *Plan
}

func (g *generator) add(a Action) { g.p.Actions = append(g.p.Actions, a) }

// when is a time for something that lasts, or leaves traces, before the plan is over.
func (g *generator) when() uint64 { return uint64(g.c.below(int(g.p.Until))) }

func (g *generator) endpointOf(i int) string { return pick(g.c, g.p.Bodies[i].Endpoints...) }

// two are different bodies.
func (g *generator) two() (int, int) {
	a := g.c.below(len(g.p.Bodies))
	b := (a + g.c.between(1, len(g.p.Bodies)-1)) % len(g.p.Bodies)
	return a, b
}

func (g *generator) post() {
	c := g.c
	who, whom := g.two()
	a := Action{
		At: g.when(), Do: Post, Who: who, From: g.endpointOf(who), To: g.endpointOf(whom),
		Count: c.between(1, 30), Size: c.between(minContent, 400), Every: uint64(pick(c, 0, 1, 2, 10, 20, 100, 500)),
	}
	switch {
	case c.percent(8):
		a.To = g.endpointOf(who) // local
	case c.percent(8):
		a.To = g.oddTarget(whom)
	}
	switch {
	case c.percent(6):
		a.Size, a.Count, a.Every = c.between(20_000, 300_000), c.between(1, 4), 100
	case c.percent(2):
		a.Size, a.Count = c.between(1_000_000, 3_000_000), 1
	case c.percent(10):
		a.Count, a.Every = c.between(100, 300), uint64(pick(c, 0, 2))
	case c.percent(1):
		a.Count, a.Every = c.between(4000, 6000), 0 // more than a queue holds
	}
	if c.percent(30) {
		a.Deadline = uint64(c.between(50, 20_000))
	}
	if c.percent(20) {
		a.Answer = uint64(c.between(100, 15_000))
	}
	a.Never = c.percent(15)
	if c.percent(20) {
		a.Lane = pick(c, "files", "chat")
	}
	if c.percent(3) {
		a.From = "hyperty://" + g.p.Bodies[who].Domain + "/stranger"
	}
	g.add(a)
}

// oddTarget is a target that is no endpoint of a body.
func (g *generator) oddTarget(whom int) string {
	d := g.p.Bodies[whom].Domain
	return pick(g.c,
		"domain://msg-node."+d+"/sm",
		"domain://registry."+d,
		"global://registry",
		"domain-idp://"+d,
		olderEndpoint(d),
		g.p.RuntimeURL(whom),
		g.p.RuntimeURL(whom)+"/sm",
		g.p.RuntimeURL(whom)+"/p2p",
		"runtime://"+d+"/nobody",
		"hyperty://"+d+"/nobody",
		"hyperty://unknown.example/nobody",
		"comm://"+d+"/chat/changes",
		"comm://"+d+"/chat/children/messages",
		g.endpointOf(whom)+"/registration",
		g.endpointOf(whom)+"/deeper/below",
		"queue://"+d+"/work",
		"topic://"+d+"/news",
	)
}

func (g *generator) fault() {
	c := g.c
	who, whom := g.two()
	a := Action{At: g.when(), Who: who, Whom: whom, Node: c.below(len(g.p.domains())), For: uint64(pick(c, 50, 500, 2000, 5000, 12_000, 35_000))}
	a.Do = pick(c,
		Kill, Crash, Crash, Crash, Close, Trap, Trap, Freeze, Freeze, Stall, Cut, Cut, Restart, Noise, Noise, Noise, Answers, Answers,
		Stop, Stop, Stop, Break, NoPath, Roam, Slow, Slow, Narrow, Block, Move, Unregister, Lie, Stray, Stray, Explain, Plain)
	switch a.Do {
	case Kill, Restart, Lie, Stop, Roam:
		a.Mode = c.below(2)
	case Crash:
		a.Mode, a.Count = pick(c, byCommit, byCommit, byCommit, byLastAct, byLastAct, byOldSave, byTwin), c.below(2)
		if a.Mode == byCommit {
			a.Size = c.below(6)
		}
		if c.percent(15) {
			a.Every = 3_600_000
		}
	case Cut, Slow:
		a.Mode = c.below(3)
	case Noise:
		a.Mode = c.below(2)
		a.Count, a.Size = pick(c, 0, 1, 10, 40), pick(c, 0, 5, 50)
		a.Every = uint64(pick(c, 0, 30, 400, 3000))
	case Answers:
		a.Mode, a.Count = c.below(4), c.between(20, 100)
	case Narrow:
		a.Size = pick(c, 125, 20, 1000)
	case Stray:
		a.Count = c.between(1, 10)
	case Plain:
		a.Count, a.Every, a.To = c.between(1, 5), uint64(c.below(100)), g.endpointOf(whom)
	}
	switch a.Do {
	case Move:
		a.From, a.Every = g.endpointOf(who), uint64(c.between(0, 3000))
	case Unregister:
		a.From = g.endpointOf(who)
	case Lie:
		a.To = g.endpointOf(c.below(len(g.p.Bodies)))
	case Explain:
		a.From, a.To = g.endpointOf(who), pick(c, g.endpointOf(whom), g.oddTarget(whom))
	}
	g.add(a)
}

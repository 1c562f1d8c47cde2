package world

import "testing"

// Both runtimes want a connection at the same moment, 300 times with other delays, some of them with sockets that are cut or
// networks that change while the signals are under way, or with signals that are lost, repeated or late. One connection survives, and
// it is the same one on both sides (known-faults.md 36, 37: libp2p/js-libp2p#2734, dmotz/trystero#134).
func TestKnownFault36BothInviteAtOnce(t *testing.T) {
	a, b := "hyperty://d.example/a", "hyperty://d.example/b"
	for seed := range uint64(300) {
		c := newChance(seed, "glare")
		p := &Plan{
			Seed: seed, Until: 60_000,
			Bodies: []BodyPlan{
				{Domain: "d.example", Direct: true, Endpoints: []string{a}},
				{Domain: "d.example", Direct: true, Endpoints: []string{b}},
			},
			Actions: []Action{
				{At: 1000, Do: Post, Who: 0, From: a, To: b, Count: 110, Every: 500, Size: 100},
				{At: 1000, Do: Post, Who: 1, From: b, To: a, Count: 110, Every: 500, Size: 100},
			},
		}
		if seed%3 == 0 { // signals get lost, come twice, and come behind later ones, of this attempt and of those before
			p.Actions = append(p.Actions, Action{At: 500, Do: Noise, Count: pick(c, 0, 10, 30), Size: 40, Every: uint64(pick(c, 50, 1000, 4000)), For: 9000})
		}
		if seed%2 == 1 {
			at := 1000 + uint64(c.below(500))
			p.Actions = append(p.Actions, Action{At: at, Do: pick(c, Cut, Roam, Break), Who: c.below(2), Whom: c.below(2), For: uint64(c.between(10, 2000))})
		}
		w := newWorld(p, Linked())
		for i, b := range w.bodies {
			w.at(w.now+uint64(i*37), b.start)
		}
		for _, a := range p.Actions {
			w.at(w.now+a.At, func() { handlers[a.Do](w, a) })
		}
		w.play(w.now + p.Until)
		if w.failure != nil {
			t.Fatalf("seed %d: %v", seed, w.failure)
		}
		var survivors [2]*channel
		for i, b := range w.bodies {
			for _, id := range b.stubOrder {
				s := b.stubs[id]
				if s.kind != peerStub || s.failed {
					continue
				}
				if survivors[i] != nil {
					t.Fatalf("seed %d: %s has two connections", seed, b.name)
				}
				survivors[i] = s.channel
			}
		}
		if c := survivors[0]; c == nil || c != survivors[1] || !c.open || c.closed {
			t.Errorf("seed %d: the sides do not have the same open connection: %+v and %+v", seed, survivors[0], survivors[1])
		}
	}
}

package world

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// answer sends the answer to a question of a body, or does with it what the plan says.
func (n *node) answer(s *socket, a engine.RegistryAnswered) {
	send := func(a engine.RegistryAnswered) {
		s.down.send(300, func() { s.body.answered(s, &a) })
	}
	if n.w.choose(choiceAnswer, 2) == 1 {
		return
	}
	if !n.chance.percent(n.answerPercent) {
		send(a)
		return
	}
	switch n.answerMode {
	case 0:
	case 1:
		n.w.after(uint64(n.chance.between(100, 20_000)), func() { send(a) })
	case 2:
		send(a)
		send(a)
	case 3:
		b := a
		b.Job += uint64(n.chance.between(1, 40))
		send(b)
		send(a)
	}
}

func (n *node) create(s *socket, job uint64, a address.Address, expires uint64) {
	e := n.entries[a.String()]
	if e != nil && e.runtime != s.body.url && !e.away {
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 403})
		return
	}
	fresh := e == nil || e.away || e.runtime != s.body.url
	n.entries[a.String()] = &entryOf{runtime: s.body.url, life: s.life, sessions: true}
	n.extend(a.String(), expires)
	n.answer(s, engine.RegistryAnswered{Job: job, Code: 200})
	if fresh {
		n.notify(a.String(), "live")
	}
}

func (n *node) extend(a string, expires uint64) {
	e := n.entries[a]
	e.expires = n.w.now + expires*1000
	n.w.at(e.expires, func() {
		if n.entries[a] == e && n.w.now >= e.expires {
			delete(n.entries, a)
			n.notify(a, "disconnected")
		}
	})
}

func (n *node) refresh(s *socket, job uint64, a address.Address) {
	e := n.entries[a.String()]
	switch {
	case e == nil:
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 404})
	case e.runtime != s.body.url:
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 403})
	default:
		n.extend(a.String(), 3600)
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 200})
	}
}

func (n *node) remove(s *socket, job uint64, a address.Address) {
	e := n.entries[a.String()]
	switch {
	case e == nil:
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 404})
	case e.runtime != s.body.url:
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 403})
	default:
		delete(n.entries, a.String())
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 200})
	}
}

func (n *node) read(s *socket, job uint64, registry, resource address.Address) {
	e := n.entries[resource.String()]
	switch {
	case registry.Domain() != n.domain || e == nil:
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 404})
	case e.away:
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 408})
	default:
		n.answer(s, engine.RegistryAnswered{Job: job, Code: 200, Runtime: e.runtime, Sessions: e.sessions})
	}
}

func (n *node) subscribe(s *socket, job uint64, as []address.Address, on bool) {
	for _, a := range as {
		runtimes := n.topics[a.String()]
		if runtimes == nil {
			runtimes = map[string]bool{}
			n.topics[a.String()] = runtimes
		}
		if on {
			runtimes[s.body.url.String()] = true
		} else {
			delete(runtimes, s.body.url.String())
		}
	}
	n.answer(s, engine.RegistryAnswered{Job: job, Code: 200})
}

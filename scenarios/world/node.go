package world

import (
	"sort"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/frame"
)

// awayLimit is after how long without its runtime an entry of the Domain Registry counts as disconnected, in ms.
const awayLimit = 30_000

// node is a Message Node: it attaches sockets, passes frames and JSON messages on, and keeps the Domain Registry.
type node struct {
	w         *World
	number    int
	domain    string
	up        bool
	attached  map[string]*socket // by runtime URL
	remembers map[string]bool    // runtimes whose subscriptions it still has
	entries   map[string]*entryOf
	topics    map[string]map[string]bool // address -> runtimes that subscribed it
	chance    *chance

	lose, repeat, late int // of session frames and signals: percent, percent, ms
	signals            *chance
	notice             bool
	answerPercent      int
	answerMode         int
}

// entryOf is an entry of the Domain Registry.
type entryOf struct {
	runtime  address.Address
	life     int    // of the body that created it
	expires  uint64 // ms of the world
	sessions bool
	away     bool
}

func newNode(w *World, number int, domain string) *node {
	n := &node{w: w, number: number, domain: domain, up: true, chance: newChance(w.plan.Seed, "node "+domain), signals: newChance(w.plan.Seed, "signals "+domain)}
	n.forget(false)
	return n
}

// olderClient is the runtime of a client that knows no sessions; it hosts olderEndpoint and answers nothing.
func (n *node) olderClient() address.Address {
	return address.MustParse("runtime://" + n.domain + "/older")
}

func olderEndpoint(domain string) string { return "hyperty://" + domain + "/older" }

// forget is a restart: sockets are gone, and, without its memory, everything that lived in it.
func (n *node) forget(keep bool) {
	n.attached = map[string]*socket{}
	if keep {
		return
	}
	n.remembers = map[string]bool{}
	n.topics = map[string]map[string]bool{}
	n.entries = map[string]*entryOf{olderEndpoint(n.domain): {runtime: n.olderClient(), expires: 1 << 60}}
}

// attach takes a socket whose runtime has proved itself; an elder one of the same runtime is closed. It says whether the
// runtime's subscriptions are still there.
func (n *node) attach(s *socket) (resumed bool) {
	url := s.body.url.String()
	if old := n.attached[url]; old != nil && old != s {
		if old.body != s.body {
			old.body.putOut = true
			old.body.tellStub(old.stub, engine.StatusFailed, false, "superseded")
		}
		old.die(true, true)
	}
	n.attached[url] = s
	s.attached = true
	resumed = s.token && n.remembers[url]
	if !resumed {
		for _, runtimes := range n.topics {
			delete(runtimes, url)
		}
	}
	n.remembers[url] = true
	if !resumed {
		return false
	}
	for _, a := range n.sortedEntries() {
		if e := n.entries[a]; e.runtime.String() == url && e.away {
			e.away = false
			n.notify(a, "live")
		}
	}
	return true
}

// detach forgets a socket; the entries of its runtime count as away after a while.
func (n *node) detach(s *socket) {
	url := s.body.url.String()
	if n.attached[url] != s {
		return
	}
	delete(n.attached, url)
	for _, other := range n.sortedAttached() {
		to := n.attached[other]
		if handle := to.named[url]; handle != 0 && to.handles[handle] == url {
			n.refuse(to, handle, frame.NoticeNoRuntime, nil)
		}
	}
	n.w.after(awayLimit, func() {
		if n.attached[url] != nil {
			return
		}
		for _, a := range n.sortedEntries() {
			if e := n.entries[a]; e.runtime.String() == url && !e.away {
				e.away = true
				n.notify(a, "disconnected")
			}
		}
	})
}

func (n *node) sortedAttached() []string {
	var urls []string
	for url := range n.attached {
		urls = append(urls, url)
	}
	sort.Strings(urls)
	return urls
}

func (n *node) sortedEntries() []string {
	var as []string
	for a := range n.entries {
		as = append(as, a)
	}
	sort.Strings(as)
	return as
}

// subscribers are the sockets of those who subscribed an address, in order.
func (n *node) subscribers(a string) []*socket {
	var urls []string
	for url := range n.topics[a] {
		urls = append(urls, url)
	}
	sort.Strings(urls)
	var ss []*socket
	for _, url := range urls {
		if s := n.attached[url]; s != nil {
			ss = append(ss, s)
		}
	}
	return ss
}

// notify tells those who subscribed the registration of an entity that its entry changed.
func (n *node) notify(entity, status string) {
	a := address.MustParse(entity)
	for _, s := range n.subscribers(entity + "/registration") {
		s.down.send(200, func() { s.body.notified(a, status) })
	}
}

// forward passes a session frame on, or says that it did not.
func (n *node) forward(from *socket, handle uint64, f []byte) {
	if !from.attached || n.attached[from.body.url.String()] != from {
		return
	}
	to, ok := from.handles[handle]
	if !ok {
		n.w.fail("defined-handle", "%s used handle %d on its socket to %s before it named it", from.body.name, handle, n.domain)
		return
	}
	switch {
	case to == n.olderClient().String():
		n.refuse(from, handle, frame.NoticeNoSessions, f)
	case n.attached[to] == nil:
		n.refuse(from, handle, frame.NoticeNoRuntime, f)
	case n.chance.percent(n.lose):
		if n.notice {
			n.refuse(from, handle, frame.NoticeFull, f)
		}
	default:
		n.chosen(from, n.attached[to], f)
	}
}

// exploredDelay is how late a frame or a path is that is late by choice: later than a time-out, in ms.
const exploredDelay = 1300

// chosen passes a frame on as the exploration, or chance, wants.
func (n *node) chosen(from, to *socket, f []byte) {
	switch n.w.choose(choiceRelay, 4) {
	case 1:
	case 2:
		n.w.after(exploredDelay, func() {
			if n.attached[to.body.url.String()] == to {
				n.pass(from, to, f)
			}
		})
	case 3:
		n.pass(from, to, f)
		n.pass(from, to, f)
	default:
		n.pass(from, to, f)
		if n.chance.percent(n.repeat) {
			n.pass(from, to, f)
		}
	}
}

// signal passes a signal on, as badly as frames: lost, twice, or behind later ones.
func (n *node) signal(to *socket, arrive func()) {
	if n.signals.percent(n.lose) {
		return
	}
	copies := 1
	if n.signals.percent(n.repeat) {
		copies = 2
	}
	for range copies {
		delay := 0
		if n.late > 0 && n.signals.percent(50) {
			delay = n.signals.below(n.late)
		}
		send := func() { to.down.send(900, arrive) }
		if delay == 0 {
			send()
			continue
		}
		n.w.after(uint64(delay), func() {
			if n.attached[to.body.url.String()] == to {
				send()
			}
		})
	}
}

func (n *node) refuse(to *socket, handle uint64, reason byte, f []byte) {
	head := append([]byte(nil), f[:min(len(f), frame.NoticeHead)]...)
	to.down.send(len(head)+4, func() { to.body.noticed(to, handle, uint64(reason), head) })
}

func (n *node) pass(from, to *socket, f []byte) {
	source := from.body.url
	handle, ok := to.sources[source.String()]
	if !ok {
		to.lastSource++
		handle = to.lastSource
		to.sources[source.String()] = handle
		to.down.send(len(source.String())+3, func() { to.body.named(to, handle, source) })
	}
	send := func() { to.down.send(len(f)+3, func() { to.body.framed(to, handle, f) }) }
	if n.late > 0 && n.chance.percent(50) {
		n.w.after(uint64(n.chance.below(n.late)), func() {
			if n.attached[to.body.url.String()] == to {
				send()
			}
		})
		return
	}
	send()
}

// plain is a JSON message on its way through the node.
type plain struct {
	from, to address.Address
	content  []byte // nil: of somebody outside the history
	name     string
}

// route passes a JSON message to all who subscribed its address, else to the runtime that owns it.
func (n *node) route(m plain) {
	to := n.subscribers(m.to.String())
	if len(to) == 0 {
		owner := ""
		if e := n.entries[m.to.Entity().String()]; e != nil {
			owner = e.runtime.String()
		} else if m.to.Scheme() == "runtime" {
			owner = m.to.Entity().String()
		}
		if s := n.attached[owner]; s != nil {
			to = append(to, s)
		}
	}
	for _, s := range to {
		s.down.send(len(m.content)+300, func() { s.body.gotPlain(s, m) })
	}
}

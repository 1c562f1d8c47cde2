package session

// A peer may be reached by more than one Message Node: that of its own domain, and any other that both are attached to. Each is a
// carrier with a lease of its own, and the rules are those of data channels (session.md part 4): the peer's own node is preferred,
// and while that one is in doubt another one carries everything as well. A peer with one relay has no choice, so it is not judged.

// relayBy is the peer's carrier by that node stub.
func (p *peer) relayBy(t *Table, stub uint64) *carrier {
	if c := p.findRelay(stub); c != nil {
		return c
	}
	c := &carrier{peer: p, relay: t.relay(stub), state: good}
	for _, other := range p.relays {
		other.trusted = max(other.trusted, t.now) // it is judged from now on
	}
	c.trusted = t.now
	p.relays = append(p.relays, c)
	return c
}

// findRelay is the same; nil if there is none.
func (p *peer) findRelay(stub uint64) *carrier {
	for _, c := range p.relays {
		if c.relay.stub == stub {
			return c
		}
	}
	return nil
}

//go:noinline
func (p *peer) liveRelays() int {
	n := 0
	for _, c := range p.relays {
		if c.open() {
			n++
		}
	}
	return n
}

// chooseRelays gives the relay to use, and another one as long as the first is not sure.
func (p *peer) chooseRelays(t *Table) (first, second *carrier) {
	for _, c := range p.relays {
		if c.open() && c.state == good && t.now >= c.pausedUntil {
			first = c
			break
		}
	}
	for _, c := range p.relays {
		switch {
		case c == first || !c.open() || c.state == held && first != nil:
		case first == nil:
			first = c
		case second == nil && (c.state == doubt || first.state != good):
			second = c
		}
	}
	if first == nil && len(p.relays) > 0 {
		first = p.relays[0]
	}
	return first, second
}

// judged says whether the carrier has to prove itself: channels always, relays where there is a choice.
//
//go:noinline
func (c *carrier) judged() bool { return c.relay == nil || c.open() && c.peer.liveRelays() > 1 }

// expected says whether answers are due on the carrier now: traffic flows, and of a relay that it is in use.
func (c *carrier) expected(t *Table) bool {
	if !c.peer.traffic(t) {
		return false
	}
	if c.relay == nil {
		return true
	}
	for _, s := range c.peer.sessions {
		if s.use.has(c) {
			return true
		}
	}
	return false
}

// away notes that the node of a relay said that the peer is not there. Without another relay the peer is absent.
func (c *carrier) away(t *Table) {
	c.absent = true
	if c.judged() {
		c.condemn(t)
	}
	for _, other := range c.peer.relays {
		if other.open() && !other.absent {
			return
		}
	}
	c.peer.absent = true
}

package session

// ping is a PING that was not answered yet.
type ping struct {
	nonce uint32
	at    uint64
	large bool
	given uint64 // of the carrier's flight, up to it
}

// pingDue is when the next PING may go; 0: none is wanted now.
func (c *carrier) pingDue(t *Table) uint64 {
	if c.relay != nil {
		return c.relayPingDue(t)
	}
	if c.state != fresh && !c.asked && !c.peer.traffic(t) {
		return 0
	}
	return max(c.nextPing, t.now)
}

// ping sends a PING on a data channel if one is due: large ones as long as none was answered, after a small one was.
func (c *carrier) ping(t *Table) {
	due := c.pingDue(t)
	if due == 0 || due > t.now {
		return
	}
	c.sendPing(t, c.relay == nil && c.state != good && c.smallOK && !c.largeOK)
}

func (c *carrier) sendPing(t *Table, large bool) {
	nonce, pad := c.newPing(t, large), 0
	if large {
		pad = t.numbers.Probe
	}
	c.peer.sessions[0].transmitBare(t, c, nonce, 0, pad)
}

// newPing notes a PING that leaves by this carrier.
func (c *carrier) newPing(t *Table, large bool) (nonce uint32) {
	if c.relay != nil && len(c.pings) >= 8 {
		c.pings = c.pings[1:]
	}
	c.nextPing, c.asked = t.now+t.numbers.Ping, false
	p := ping{nonce: t.random.Nonce(), at: t.now, large: large, given: c.flight.given}
	c.pings = append(c.pings, p)
	if c.unanswered == 0 {
		c.silentSince = t.now
	}
	c.unanswered++
	return p.nonce
}

// pingRelay measures the round trip of the relay while it is preferred and something is unseen. Where there is another relay to go to, it
// also proves it, as PINGs prove a channel.
func (c *carrier) pingRelay(t *Table) {
	if due := c.relayPingDue(t); due == 0 || due > t.now || !c.writable(t) {
		return
	}
	c.sendPing(t, false)
}

func (c *carrier) relayPingDue(t *Table) uint64 {
	if !c.open() || c.relay.blocked {
		return 0
	}
	if c.judged() && (c.expected(t) || c.state != good && c.peer.traffic(t)) {
		return max(c.nextPing, t.now, c.pausedUntil)
	}
	for _, s := range c.peer.sessions {
		// The first round trip is measured by the first frame's own answer: no PING before the peer is known.
		if s.use[0] == c && s.unseen() && s.knows {
			return max(c.nextPing, t.now, c.pausedUntil)
		}
	}
	return 0
}

// ponged takes the answer to one of this carrier's own PINGs. Any other answer, and one that is too old, proves nothing.
func (c *carrier) ponged(t *Table, nonce uint32) {
	for i, p := range c.pings {
		if p.nonce != nonce {
			continue
		}
		c.pings = append(c.pings[:i:i], c.pings[i+1:]...)
		c.answered(t, p)
		return
	}
}

func (c *carrier) answered(t *Table, p ping) {
	took := t.now - p.at
	if !c.measured {
		c.srtt, c.measured = took, true
	} else {
		c.srtt = (3*c.srtt + took) / 4
	}
	c.trusted = max(c.trusted, p.at)
	c.flight.answered(t, p.given, took)
	c.absent = false
	if took > t.numbers.Lease {
		return
	}
	c.unanswered, c.silentSince = 0, 0
	c.streak++
	if p.large {
		c.largeOK = true
	} else {
		c.smallOK = true
	}
	switch c.state {
	case fresh:
		if !c.largeOK {
			c.nextPing = 0 // the large one follows at once
		}
	case doubt:
		if p.at >= c.doubtSince && (c.largeOK || c.relay != nil) {
			c.becomeGood(t, "confirmed")
		}
	}
}

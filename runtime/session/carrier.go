package session

import "github.com/hyroute/hyroute/runtime/address"

// carrierState is how this side sees a data channel (session.md 4.1).
type carrierState uint8

const (
	fresh carrierState = iota // open, not yet validated
	good
	doubt // the lease is over: the relay is in use as well
	held  // condemned: probed only
)

// carrier is one way to a peer: its relay (relay is set), or a data channel.
type carrier struct {
	peer        *peer
	relay       *relay
	stub        uint64 // of a data channel
	state       carrierState
	blocked     bool
	given       allowance
	flight      flight
	pausedUntil uint64 // relay: after a NOTICE
	pings       []ping // not answered yet, the oldest first
	nextPing    uint64 // not before
	asked       bool   // one PING goes even where nothing flows
	smallOK     bool   // a small PING was answered
	largeOK     bool   // and a large one
	streak      uint64 // answers in a row
	trusted     uint64 // sending time of the newest answered PING
	unanswered  int    // PINGs since the last answer
	silentSince uint64 // sending time of the first of them
	trial       trial  // of a relay; channels have that of their peer
	full        uint64 // how often the node's queue to the peer was full since something was last seen
	absent      bool   // the node said that the peer is not there
	doubtSince  uint64
	heldSince   uint64
	goodSince   uint64
	forgiven    bool // its peer's failures were forgotten since it is good
	srtt        uint64
	measured    bool
}

// trial is what former failures cost.
type trial struct {
	fails     uint64 // how often the carrier was condemned lately
	holdUntil uint64
}

// tried is the trial that counts for the carrier: a new channel to a peer begins with the failures of the one before.
func (c *carrier) tried() *trial {
	if c.relay != nil {
		return &c.trial
	}
	return &c.peer.trial
}

// ChannelOpened says that a data channel to url is open. stub is the node stub that url is behind.
func (t *Table) ChannelOpened(url address.Address, node, stub uint64) {
	p := t.peer(url, node)
	if len(p.sessions) == 0 && p.session(t, Key{Set: Relay | Direct}) == nil {
		t.act(&CloseChannel{Stub: stub, Peer: url})
		return
	}
	if t.channels[stub] != nil {
		return
	}
	if len(p.channels) == t.numbers.Channels {
		oldest := p.channels[0].stub
		t.act(&CloseChannel{Stub: oldest, Peer: url})
		t.ChannelGone(oldest, "surplus")
	}
	c := &carrier{peer: p, stub: stub}
	p.channels = append(p.channels, c)
	t.channels[stub] = c
	t.touch(p)
}

// ChannelGone says that a data channel can carry nothing any more.
func (t *Table) ChannelGone(stub uint64, reason string) {
	c := t.channels[stub]
	if c == nil {
		return
	}
	delete(t.channels, stub)
	p := c.peer
	for i, other := range p.channels {
		if other == c {
			p.channels = append(p.channels[:i:i], p.channels[i+1:]...)
			break
		}
	}
	for _, s := range p.sessions {
		s.forgetCursor(c)
	}
	p.why = reason
	t.touch(p)
}

// Channels says how many data channels there are to url, whether one of them may be used now, and until when no new one
// should be set up.
func (t *Table) Channels(url address.Address) (open int, usable bool, holdUntil uint64) {
	p := t.peers[url]
	if p == nil {
		return 0, false, 0
	}
	for _, c := range p.channels {
		usable = usable || c.state == good
	}
	return len(p.channels), usable, p.holdUntil
}

// ready says whether the carrier takes something, in this Step or in the next one.
func (c *carrier) ready(t *Table) bool {
	if c.relay != nil {
		return c.relay.live && !c.relay.blocked && t.now >= c.pausedUntil
	}
	return !c.blocked
}

func (c *carrier) writable(t *Table) bool { return c.ready(t) && c.allowance().left(t) }

func (c *carrier) open() bool { return c.relay == nil || c.relay.live }

func (c *carrier) wokenLate(t *Table) {
	c.pings, c.unanswered, c.silentSince, c.nextPing = nil, 0, 0, 0
	if c.state == good {
		c.intoDoubt(t, "woken-late")
	}
}

// NetworkChanged says that the own network is another one. What was proven on the old one proves nothing: channels are trusted
// again once they answered. Hold-downs were about the old one and end.
func (t *Table) NetworkChanged() {
	for _, p := range t.inOrder() {
		p.holdUntil = min(p.holdUntil, t.now)
		for _, c := range p.channels {
			c.intoDoubt(t, "network-changed")
		}
		t.askChannels(p)
	}
}

// AskChannels probes the data channels to url now, whether anything flows or not.
func (t *Table) AskChannels(url address.Address) {
	if p := t.peers[url]; p != nil {
		t.askChannels(p)
	}
}

//go:noinline
func (t *Table) askChannels(p *peer) {
	for _, c := range p.channels {
		c.asked, c.nextPing = true, 0
		t.touch(p)
	}
}

//go:noinline
func (c *carrier) intoDoubt(t *Table, why string) {
	if c.state != good {
		return
	}
	c.state, c.doubtSince, c.nextPing = doubt, t.now, 0
	c.peer.why = why
	if why == "timeout" {
		c.largeOK = false // small PINGs may get through where payload does not: they prove nothing any more
	}
}

// condemn puts the channel out of use for a while that doubles with each failure.
func (c *carrier) condemn(t *Table) {
	p := c.peer
	if x := c.tried(); c.state != held {
		x.fails++
		hold := uint64(1000) << min(x.fails-1, 16)
		x.holdUntil = t.now + min(hold, t.numbers.MaxHold)
		c.state, c.heldSince = held, t.now
		c.smallOK, c.largeOK = false, false
		p.why = "condemned"
		if c.relay == nil && p.decides(t) {
			t.act(&RestartChannel{Stub: c.stub, Peer: p.url})
		}
	}
	c.streak, c.unanswered, c.silentSince = 0, 0, 0
}

// judge moves the channel to the state that its probes prove.
func (c *carrier) judge(t *Table) {
	n, p := &t.numbers, c.peer
	if !c.judged() {
		c.state = good
		return
	}
	for len(c.pings) > 0 && t.now > c.pings[0].at+n.Lease {
		c.streak = 0 // an answer would be too old to prove anything
		c.pings = c.pings[1:]
	}
	silent := c.unanswered >= n.CondemnPings && t.now >= c.silentSince+n.Condemn
	switch c.state {
	case good:
		if !c.forgiven && t.now >= c.goodSince+n.Forgive {
			c.tried().fails, c.forgiven = 0, true
		}
		if c.expected(t) && t.now > c.trusted+n.Lease {
			c.intoDoubt(t, "lease-over")
		}
	case doubt:
		if silent && t.now >= c.doubtSince+n.Condemn {
			c.condemn(t)
		}
	case fresh, held:
		if c.valid(t) {
			c.becomeGood(t, "validated")
			break
		}
		if c.relay == nil && c.state == held && p.traffic(t) && t.now >= max(c.heldSince, c.trusted)+n.Abandon {
			t.act(&CloseChannel{Stub: c.stub, Peer: p.url})
			t.ChannelGone(c.stub, "abandoned")
			break
		}
		if silent {
			c.condemn(t)
		}
	}
}

// valid says whether both ways of the channel are proven: small and large PINGs were answered, and after a failure three in a
// row and the hold-down is over.
func (c *carrier) valid(t *Table) bool {
	large := c.largeOK || c.relay != nil // a node says so when a frame is too large
	if !c.smallOK || !large || t.now > c.trusted+t.numbers.Lease {
		return false
	}
	x := c.tried()
	return x.fails == 0 || c.streak >= 3 && t.now >= x.holdUntil
}

func (c *carrier) becomeGood(t *Table, why string) {
	c.state, c.goodSince, c.forgiven = good, t.now, c.tried().fails == 0
	c.peer.why = why
	for _, s := range c.peer.sessions {
		s.rewind(c)
	}
}

// wake is when the channel needs to be judged or probed again. 0: never.
func (c *carrier) wake(t *Table) uint64 {
	n, p := &t.numbers, c.peer
	at := c.pingDue(t)
	traffic := p.traffic(t)
	switch c.state {
	case good:
		if c.expected(t) {
			at = earlier(at, c.trusted+n.Lease+1)
		}
		if !c.forgiven {
			at = earlier(at, c.goodSince+n.Forgive)
		}
	case doubt:
		if c.unanswered >= n.CondemnPings {
			at = earlier(at, max(c.silentSince, c.doubtSince)+n.Condemn)
		}
	case fresh, held:
		if c.unanswered >= n.CondemnPings {
			at = earlier(at, c.silentSince+n.Condemn)
		}
		if x := c.tried(); x.fails > 0 && c.streak >= 3 && x.holdUntil > t.now {
			at = earlier(at, x.holdUntil)
		}
		if c.relay == nil && c.state == held && traffic {
			at = earlier(at, max(c.heldSince, c.trusted)+n.Abandon)
		}
	}
	return at
}

// wakeRelay is the same for a relay.
func (c *carrier) wakeRelay(t *Table) uint64 {
	at := c.relayPingDue(t)
	if c.judged() {
		at = c.wake(t)
	}
	if c.pausedUntil > t.now && c.open() {
		at = earlier(at, c.pausedUntil)
	}
	return at
}

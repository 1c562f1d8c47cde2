package session

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
)

// peer is another runtime: the carriers to it, and the sessions that share them.
type peer struct {
	id        uint64
	url       address.Address
	relays    []*carrier // that of the peer's own domain first, once it is known
	channels  []*carrier // the oldest first
	sessions  []*Session
	lastChunk uint64 // when a chunk last went or came
	lively    bool   // a chunk ever went or came
	trial            // of its channels
	bothGood  uint64 // since when two channels are good; 0: they are not
	absent    bool   // the node said that there is no such runtime now
	missed    uint64 // since when; 0: it is not
	gone      bool   // the application was told so
	why       string // what changed the carriers last
	dirty     bool
	parked    bool
	wakeAt    uint64
}

// peer is the one with that URL; home is the stub of its own domain's node.
func (t *Table) peer(url address.Address, home uint64) *peer {
	p := t.known(url)
	if c := p.relayBy(t, home); p.relays[0] != c {
		for i := len(p.relays) - 1; i > 0; i-- {
			if p.relays[i] == c {
				p.relays[i], p.relays[i-1] = p.relays[i-1], c
			}
		}
	}
	return p
}

func (t *Table) known(url address.Address) *peer {
	if p := t.latest; p != nil && p.url == url {
		return p
	}
	p := t.peers[url]
	if p == nil {
		p = &peer{id: t.id(), url: url}
		t.peers[url] = p
	}
	t.latest = p
	return p
}

// session is the one with that key; it is made if need be. It is nil if there are too many.
func (p *peer) session(t *Table, key Key) *Session {
	for _, s := range p.sessions {
		if s.key == key {
			return s
		}
	}
	if t.sessions.Len() >= t.numbers.Sessions && !t.forgetOne() {
		return nil
	}
	s := newSession(t, p, key)
	p.sessions = append(p.sessions, s)
	t.sessions.Put(s.id, s)
	return s
}

// forgetOne drops the session that owes nothing and was not used for the longest time.
func (t *Table) forgetOne() bool {
	var oldest *Session
	for _, s := range t.sessions.Values() {
		last := len(s.peer.sessions) == 1 && len(s.peer.channels) > 0 // its channels speak through it
		if !last && s.idle() && (oldest == nil || s.lastUse < oldest.lastUse || s.lastUse == oldest.lastUse && s.id < oldest.id) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	t.forget(oldest)
	return true
}

// forget drops a session, and its peer with the last one.
func (t *Table) forget(s *Session) {
	if s.open.any && !s.open.tooBig {
		t.act(&Drop{Session: s.id, First: s.open.first, Last: s.open.last})
	}
	s.dropBuffer(t)
	t.sessions.Remove(s.id)
	for _, x := range s.cursors {
		x.carrier.flight.forget(s.id, frame.MaxVarint)
	}
	p := s.peer
	for i, other := range p.sessions {
		if other == s {
			p.sessions = append(p.sessions[:i:i], p.sessions[i+1:]...)
			break
		}
	}
	if len(p.sessions) == 0 && len(p.channels) == 0 {
		delete(t.peers, p.url)
		t.latest = nil
	}
}

// sweepEvery is how often, in ms, sessions are looked for that were not used for long. It is done along with other work, and
// never wakes a body.
const sweepEvery = 3600_000

// sweep forgets the sessions that were not used for long and owe nothing. What a peer began to send and never ended goes too.
func (t *Table) sweep() {
	t.sweepDue = false
	for _, p := range t.inOrder() {
		for s := p.longUnused(t); s != nil; s = p.longUnused(t) {
			t.forget(s)
		}
	}
}

// longUnused is the session to forget next, the one not used for the longest time. The last one stays while there are
// channels, for they speak through it.
func (p *peer) longUnused(t *Table) (oldest *Session) {
	if len(p.sessions) == 1 && len(p.channels) > 0 {
		return nil
	}
	for _, s := range p.sessions {
		if s.settled() && t.now >= s.lastUse+t.numbers.Forget && (oldest == nil || s.lastUse < oldest.lastUse) {
			oldest = s
		}
	}
	return oldest
}

// sessionOf is the session that a frame belongs to. A short frame that no session knows is answered by all, or by a new one.
func (p *peer) sessionOf(t *Table, h *frame.Header) *Session {
	if h.Long {
		return p.session(t, Key{CarrierSet(h.Hello.Set), h.Hello.Lane})
	}
	for _, s := range p.sessions {
		if s.pinc != 0 && h.Tag == s.tag().in {
			return s
		}
	}
	if len(p.sessions) == 0 {
		return p.session(t, Key{Set: Relay | Direct})
	}
	for _, s := range p.sessions[1:] {
		s.hello = true
		s.sayHello = true
	}
	return p.sessions[0]
}

// traffic says whether something flows: PINGs go only then.
func (p *peer) traffic(t *Table) bool {
	if p.lively && t.now < p.lastChunk+t.numbers.Idle {
		return true
	}
	for _, s := range p.sessions {
		if s.unseen() {
			return true
		}
	}
	return false
}

// present notes that the peer is there: what was held back goes at once.
func (p *peer) present(t *Table, why string) {
	if !p.absent {
		return
	}
	p.absent, p.missed = false, 0
	if p.gone {
		p.gone = false
		t.act(&Presence{Peer: p.url, Live: true, Reason: why})
	}
	for _, c := range p.relays {
		c.absent, c.pausedUntil = false, 0
	}
}

// PeerBack says that the peer may be attached to its node again.
func (t *Table) PeerBack(url address.Address) {
	if p := t.peers[url]; p != nil && p.absent {
		p.present(t, "registered")
		t.touch(p)
	}
}

// miss tells the application that the peer is gone, once no data channel has shown in a while that only its node lost it.
func (p *peer) miss(t *Table) {
	if !p.absent || p.gone {
		return
	}
	if p.missed == 0 {
		p.missed = t.now
		t.askChannels(p)
	}
	if t.now < p.missed+p.answers(t) {
		return
	}
	p.gone = true
	for _, c := range p.channels {
		c.intoDoubt(t, "no-such-runtime")
	}
	t.act(&Presence{Peer: p.url, Reason: "no-such-runtime"})
}

// answers is how long a data channel that may be alive takes to answer. 0: there is none.
func (p *peer) answers(t *Table) uint64 {
	longest := uint64(0)
	for _, c := range p.channels {
		if c.state == good || c.state == doubt {
			longest = max(longest, t.numbers.Answer, 2*c.srtt)
		}
	}
	return longest
}

func (p *peer) chunkMoved(t *Table) { p.lastChunk, p.lively = t.now, true }

// carriers are those in use, the preferred one first.
type carriers [3]*carrier

func (u *carriers) has(c *carrier) bool {
	for _, x := range u {
		if x == c {
			return true
		}
	}
	return false
}

// choose computes, from scratch, which carriers sessions with that set use now.
func (p *peer) choose(t *Table, set CarrierSet) carriers {
	var doubtful *carrier
	if set&Direct != 0 {
		for i := len(p.channels) - 1; i >= 0; i-- {
			switch c := p.channels[i]; c.state {
			case good:
				return carriers{c}
			case doubt:
				if doubtful == nil {
					doubtful = c
				}
			}
		}
	}
	if set&Relay == 0 {
		return carriers{doubtful}
	}
	first, second := p.chooseRelays(t)
	return carriers{first, doubtful, second}
}

// decides says whether this side is the one that closes surplus channels: the lower runtime URL.
func (p *peer) decides(t *Table) bool { return t.self.Less(p.url) }

// prepare does what is due before anything is sent.
func (p *peer) prepare(t *Table) {
	for _, s := range p.sessions {
		s.checkRTO(t)
	}
	for _, c := range p.channels { // one that goes meanwhile leaves this list as it was
		c.judge(t)
	}
	p.prune(t)
	for _, c := range p.relays {
		c.judge(t)
	}
	p.miss(t)
	for _, s := range p.sessions {
		s.chooseCarriers(t)
	}
}

// conclude sends what goes without chunks.
func (p *peer) conclude(t *Table) {
	for _, s := range p.sessions {
		s.inquire(t)
	}
	// Probes come last: they find out whether what was just sent gets through.
	for _, c := range p.relays {
		c.pingRelay(t)
	}
	for _, c := range p.channels {
		c.ping(t)
	}
	for _, s := range p.sessions {
		s.acknowledge(t)
	}
}

// prune lets the deciding side close the older of two channels that have both been good for a while.
func (p *peer) prune(t *Table) {
	var oldest *carrier
	goods := 0
	for _, c := range p.channels {
		if c.state == good {
			if goods++; oldest == nil {
				oldest = c
			}
		}
	}
	if goods < 2 {
		p.bothGood = 0
		return
	}
	if p.bothGood == 0 {
		p.bothGood = t.now + 1
	}
	if p.decides(t) && t.now+1 >= p.bothGood+t.numbers.Together {
		t.act(&CloseChannel{Stub: oldest.stub, Peer: p.url})
		t.ChannelGone(oldest.stub, "surplus")
		p.bothGood = 0
	}
}

// wake is when flush has something to do by itself. 0: never.
func (p *peer) wake(t *Table) uint64 {
	at := uint64(0)
	for _, c := range p.relays {
		at = earlier(at, c.wakeRelay(t))
	}
	for _, c := range p.channels {
		at = earlier(at, c.wake(t))
	}
	for _, s := range p.sessions {
		at = earlier(at, s.wake(t))
	}
	if p.bothGood != 0 && p.decides(t) {
		at = earlier(at, p.bothGood-1+t.numbers.Together)
	}
	if p.missed != 0 && !p.gone {
		at = earlier(at, p.missed+p.answers(t))
	}
	if at != 0 {
		at = max(at, t.now)
	}
	return at
}

// whyExpired is the cause of an expiry, as far as it is known.
func (p *peer) whyExpired() Outcome {
	switch {
	case p.liveRelays() == 0 && len(p.channels) == 0:
		return ExpiredNoNode
	case p.absent:
		return ExpiredNoRuntime
	}
	return Expired
}

package session

import (
	"errors"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/snapshot"
)

var errNumbers = errors.New("session: snapshot: numbers that no session has")

var errReference = errors.New("session: snapshot: a reference leads nowhere")

// Snapshot writes the table's state between two instants, or reads it into a table that New just made. The source of
// randomness is its owner's to keep.
func (t *Table) Snapshot(c *snapshot.Codec) {
	for _, v := range []*uint64{&t.wall, &t.now, &t.step, &t.life, &t.ids, &t.turns, &t.asked, &t.dropped} {
		c.Uint64(v)
	}
	snapshot.Slice(c, &t.relays, func(r **relay) {
		if c.Reading() {
			*r = &relay{}
		}
		(*r).snapshot(c)
	})
	peers := t.inOrder()
	snapshot.Slice(c, &peers, func(p **peer) {
		if c.Reading() {
			*p = &peer{}
		}
		t.snapshotPeer(c, *p)
	})
	parked := len(t.parked)
	n := c.Length(parked)
	for i := range n {
		var url address.Address
		if !c.Reading() {
			url = t.parked[i].url
		}
		c.Address(&url)
		if c.Reading() {
			p := t.peers[url]
			if p == nil {
				c.Fail(errReference)
				return
			}
			t.park(p)
		}
	}
}

func (r *relay) snapshot(c *snapshot.Codec) {
	c.Uint64(&r.stub)
	c.Bool(&r.live)
	c.Bool(&r.blocked)
	c.Uint64(&r.given.step)
	c.Int(&r.given.bytes)
	c.Int(&r.given.turn)
	c.Uint64(&r.next)
	snapshot.Slice(c, &r.named, c.Address)
	snapshot.Slice(c, &r.in, c.Address)
	if c.Reading() {
		r.out = map[address.Address]uint64{}
		for h, a := range r.named {
			if !a.IsZero() {
				r.out[a] = uint64(h)
			}
		}
	}
}

func (t *Table) snapshotPeer(c *snapshot.Codec, p *peer) {
	c.Uint64(&p.id)
	c.Address(&p.url)
	for _, v := range []*uint64{&p.lastChunk, &p.fails, &p.holdUntil, &p.bothGood, &p.missed, &p.wakeAt} {
		c.Uint64(v)
	}
	c.Bool(&p.lively)
	c.Bool(&p.absent)
	c.Bool(&p.gone)
	c.String(&p.why)
	snapshot.Slice(c, &p.relays, func(k **carrier) {
		var stub uint64
		if c.Reading() {
			*k = &carrier{peer: p}
		} else {
			stub = (*k).relay.stub
		}
		c.Uint64(&stub)
		(*k).snapshot(c)
		if c.Reading() {
			if (*k).relay = t.findRelay(stub); (*k).relay == nil {
				c.Fail(errReference)
				(*k).relay = &relay{}
			}
		}
	})
	snapshot.Slice(c, &p.channels, func(k **carrier) {
		if c.Reading() {
			*k = &carrier{peer: p}
		}
		(*k).snapshot(c)
	})
	if c.Reading() {
		t.peers[p.url] = p
		for _, k := range p.channels {
			t.channels[k.stub] = k
		}
		if p.wakeAt != 0 {
			t.wakes.Add(p.wakeAt, p.id, p)
		}
	}
	snapshot.Slice(c, &p.sessions, func(s **Session) {
		if c.Reading() {
			*s = &Session{peer: p}
		}
		t.snapshotSession(c, *s)
	})
}

func (k *carrier) snapshot(c *snapshot.Codec) {
	state := uint8(k.state)
	c.Byte(&state)
	k.state = carrierState(state)
	for _, v := range []*uint64{
		&k.stub, &k.given.step, &k.pausedUntil, &k.nextPing, &k.streak, &k.trusted, &k.silentSince, &k.doubtSince, &k.heldSince,
		&k.goodSince, &k.srtt, &k.trial.fails, &k.trial.holdUntil, &k.full,
	} {
		c.Uint64(v)
	}
	c.Int(&k.given.bytes)
	c.Int(&k.given.turn)
	k.flight.snapshot(c)
	c.Int(&k.unanswered)
	for _, v := range []*bool{&k.blocked, &k.smallOK, &k.largeOK, &k.forgiven, &k.measured, &k.asked, &k.absent} {
		c.Bool(v)
	}
	snapshot.Slice(c, &k.pings, func(p *ping) {
		c.Uint32(&p.nonce)
		c.Uint64(&p.at)
		c.Bool(&p.large)
		c.Uint64(&p.given)
	})
}

func (t *Table) snapshotSession(c *snapshot.Codec, s *Session) {
	set := uint8(s.key.Set)
	c.Byte(&set)
	s.key.Set = CarrierSet(set)
	c.String(&s.key.Lane)
	for _, v := range []*uint64{
		&s.id, &s.lastUse, &s.served, &s.inc, &s.helloAt, &s.base, &s.next, &s.seen, &s.rto, &s.rtoAt, &s.pinc, &s.rinc, &s.rseen, &s.again,
		&s.epoch, &s.ackAt, &s.told, &s.ask.at, &s.ask.tries, &s.counters.top, &s.counters.acknowledged, &s.counters.resent, &s.counters.repeated,
	} {
		c.Uint64(v)
	}
	for _, v := range []*int{
		&s.queueBytes, &s.old, &s.unseenCost, &s.undoneCost, &s.window, &s.largest, &s.bufferCost, &s.owedCost, &s.ackChunks, &s.ackBytes,
	} {
		c.Int(v)
	}
	for _, v := range []*bool{&s.knows, &s.hello, &s.sayHello, &s.over} {
		c.Bool(v)
	}
	lives := func(x *frame.Continue) {
		c.Uint64(&x.Inc)
		c.Uint64(&x.Fork)
	}
	snapshot.Slice(c, &s.continues, lives)
	snapshot.Slice(c, &s.former, lives)
	snapshot.Slice(c, &s.resets, c.Uint64)
	t.snapshotMessages(c, s)
	chunk := func(k *chunk) { s.snapshotChunk(c, k) }
	chunks := s.chunks.list()
	snapshot.Slice(c, &chunks, chunk)
	s.chunks.set(chunks)
	snapshot.Slice(c, &s.controls, chunk)
	s.flows.snapshot(c)
	s.snapshotCarriers(c)
	t.snapshotReceived(c, s)
	if c.Reading() {
		if !s.possible() {
			c.Fail(errNumbers)
		}
		t.sessions.Put(s.id, s)
	}
}

// possible says whether the numbers of a session fit together, so that a frame can be made of them.
func (s *Session) possible() bool {
	if s.base > s.seen || s.seen >= s.next || s.next > frame.MaxVarint || uint64(s.chunks.len()) != s.next-1-s.base || len(s.continues) > frame.MaxContinues {
		return false
	}
	for _, x := range s.continues {
		if x.Fork == 0 || x.Fork > frame.MaxVarint {
			return false
		}
	}
	for _, list := range [][]chunk{s.chunks.list(), s.controls} {
		for i := range list {
			d := list[i].describe()
			h := frame.Header{First: 1, Chunks: []frame.Chunk{d}}
			if _, err := h.Append(nil); err != nil || d.Length > 0 && list[i].message == nil {
				return false
			}
		}
	}
	done := s.done()
	return done <= s.rseen && s.rseen <= frame.MaxVarint && len(s.key.Lane) <= frame.MaxLane && (s.key.Set == Relay || s.key.Set == Direct || s.key.Set == Relay|Direct)
}

func (t *Table) snapshotMessages(c *snapshot.Codec, s *Session) {
	each := func(m **message) {
		if c.Reading() {
			*m = &message{session: s}
		}
		x := *m
		for _, v := range []*uint64{&x.Msg, &x.Deadline, &x.id, &x.accepted, &x.at, &x.begin, &x.end} {
			c.Uint64(v)
		}
		c.Address(&x.From)
		c.Address(&x.To)
		c.Int(&x.Size)
		c.Int(&x.sent)
		c.Bool(&x.settled)
		if c.Reading() && !x.settled {
			t.deadlines.Add(x.at, x.id, x)
		}
	}
	queue, outstanding := s.queue.list(), s.outstanding.list()
	snapshot.Slice(c, &queue, each)
	snapshot.Slice(c, &outstanding, each)
	s.queue.set(queue)
	s.outstanding.set(outstanding)
	var part []*message
	if s.part != nil {
		part = []*message{s.part}
	}
	snapshot.Slice(c, &part, each)
	if len(part) > 0 {
		s.part = part[0]
	}
}

// messageOf is the one that a chunk of the snapshot refers to by its id.
func (s *Session) messageOf(id uint64) *message {
	if s.part != nil && s.part.id == id {
		return s.part
	}
	for _, m := range s.outstanding.list() {
		if m.id == id {
			return m
		}
	}
	return nil
}

func (s *Session) snapshotChunk(c *snapshot.Codec, k *chunk) {
	flags, id := uint8(k.flags), uint64(0)
	if k.message != nil {
		id = k.message.id
	}
	c.Byte(&flags)
	c.Uint64(&id)
	k.flags = frame.ChunkFlags(flags)
	if c.Reading() && id != 0 {
		if k.message = s.messageOf(id); k.message == nil {
			c.Fail(errReference)
		}
	}
	var r rare
	if k.rare != nil {
		r = *k.rare
	}
	for _, v := range []*uint64{&k.flow, &r.inc, &r.end} {
		c.Uint64(v)
	}
	c.Int(&k.offset)
	c.Int(&k.length)
	c.Address(&r.from)
	c.Address(&r.to)
	c.Byte(&r.code)
	if c.Reading() && k.flags&(frame.Def|frame.Refuse) != 0 {
		k.rare = &r
	}
}

func (f *flowTable) snapshot(c *snapshot.Codec) {
	if c.Reading() {
		f.reset()
	}
	snapshot.Slice(c, &f.byUse, func(x *flow) {
		index := f.index[*x]
		c.Address(&x.from)
		c.Address(&x.to)
		c.Uint64(&index)
		f.index[*x] = index
	})
	snapshot.Slice(c, &f.stale, c.Uint64)
}

// snapshotCarriers writes carriers by their place: relays from 1 on, then the channels; none is 0.
func (s *Session) snapshotCarriers(c *snapshot.Codec) {
	each := func(k **carrier) {
		place := uint64(0)
		all := append(append([]*carrier(nil), s.peer.relays...), s.peer.channels...)
		for i, x := range all {
			if *k == x {
				place = uint64(i) + 1
			}
		}
		c.Uint64(&place)
		switch {
		case !c.Reading() || place == 0:
		case place-1 < uint64(len(all)):
			*k = all[place-1]
		default:
			c.Fail(errReference)
		}
	}
	snapshot.Slice(c, &s.cursors, func(x *cursor) {
		each(&x.carrier)
		c.Uint64(&x.at)
		c.Uint64(&x.most)
	})
	for i := range s.use {
		each(&s.use[i])
	}
}

func (t *Table) snapshotReceived(c *snapshot.Codec, s *Session) {
	n := s.rseen
	for left := c.Length(s.buffer.count); left > 0; left-- {
		if !c.Reading() {
			for n++; !s.buffer.has(n); n++ {
			}
		}
		a, _ := s.buffer.get(n)
		k, direct := s.buffer.chunk(n), a.direct
		c.Uint64(&n)
		snapshotArrived(c, &k, &direct)
		if c.Reading() {
			s.restoreArrived(c, t, n, &k, direct)
		}
	}
	c.Bool(&s.open.any)
	c.Uint64(&s.open.first)
	c.Uint64(&s.open.last)
	c.Int(&s.open.size)
	c.Uint64(&s.open.flow)
	c.Bool(&s.open.tooBig)
	each := func(o *owed) {
		state := uint8(o.state)
		for _, v := range []*uint64{&o.begin, &o.end, &o.flow, &o.gate} {
			c.Uint64(v)
		}
		c.Int(&o.cost)
		c.Byte(&state)
		c.Byte(&o.code)
		o.state = owedState(state)
	}
	list := s.owed.list()
	snapshot.Slice(c, &list, each)
	s.owed.set(list)
	snapshot.Slice(c, &s.known, each)
	snapshot.Slice(c, &s.incoming, func(x *inflow) { x.snapshot(c) })
	s.trimDefined()
	snapshot.Slice(c, &s.defined, func(d *defined) {
		c.Uint64(&d.number)
		c.Uint64(&d.flow)
		d.before.snapshot(c)
		if d.flow >= uint64(len(s.incoming)) {
			c.Fail(errReference)
		}
	})
}

func (x *inflow) snapshot(c *snapshot.Codec) {
	c.Address(&x.from)
	c.Address(&x.to)
	c.Bool(&x.defined)
	c.Bool(&x.moved)
}

func snapshotArrived(c *snapshot.Codec, k *frame.Chunk, direct *bool) {
	flags := uint8(k.Flags)
	c.Byte(&flags)
	k.Flags = frame.ChunkFlags(flags)
	for _, v := range []*uint64{&k.Flow, &k.Inc, &k.Number} {
		c.Uint64(v)
	}
	c.String(&k.From)
	c.String(&k.To)
	c.Byte(&k.Code)
	c.Int(&k.Length)
	c.Bool(direct)
}

// restoreArrived puts a chunk back, if it can have been there.
func (s *Session) restoreArrived(c *snapshot.Codec, t *Table, n uint64, k *frame.Chunk, direct bool) {
	if n <= s.rseen || n > s.rseen+t.numbers.reach() || s.buffer.has(n) {
		c.Fail(errNumbers)
		return
	}
	s.buffer.put(s.rseen, n, k, direct)
}

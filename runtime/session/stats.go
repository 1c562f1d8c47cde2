package session

import "github.com/hyroute/hyroute/runtime/address"

// Stats are what a session counted, and what waits in it.
type Stats struct {
	Session        uint64
	Peer           address.Address
	Lane           string
	Stub           uint64 // of the preferred carrier
	Direct         bool   // that is a data channel
	RTT            uint64 // of it, ms; 0: not measured
	Acknowledged   uint64 // messages that the peer said it is done with
	Resent         uint64 // chunks that were sent again
	Repeated       uint64 // chunks that came again, and were dropped
	Queued         int    // bytes of messages that are not numbered yet
	Unacknowledged int    // bytes that are numbered, and that the peer is not done with
}

// counters are what a session counts for its Stats.
type counters struct {
	top          uint64 // the highest number ever sent of the present stream
	acknowledged uint64
	resent       uint64
	repeated     uint64
}

// sent counts a chunk that is given to a carrier.
func (c *counters) sent(n uint64) {
	if n > c.top {
		c.top = n
	} else {
		c.resent++
	}
}

// Stats are those of all sessions, in the order in which their peers were met.
func (t *Table) Stats() (list []Stats) {
	for _, p := range t.inOrder() {
		for _, s := range p.sessions {
			list = append(list, s.stats(t))
		}
	}
	return list
}

func (s *Session) stats(t *Table) Stats {
	x := Stats{
		Session: s.id, Peer: s.peer.url, Lane: s.key.Lane,
		Acknowledged: s.counters.acknowledged, Resent: s.counters.resent, Repeated: s.counters.repeated,
		Queued: s.queueBytes, Unacknowledged: s.undoneCost - chunkCost*s.chunks.len(),
	}
	if s.part != nil {
		x.Queued += s.part.Size - s.part.sent
	}
	if c := s.peer.choose(t, s.key.Set)[0]; c != nil {
		x.RTT, x.Stub, x.Direct = c.srtt, c.stub, c.relay == nil
		if c.relay != nil {
			x.Stub = c.relay.stub
		}
	}
	return x
}

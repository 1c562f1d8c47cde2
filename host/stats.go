package host

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hyroute/hyroute/p2p"
	"github.com/hyroute/hyroute/runtime/engine"
)

// pathLog is how many changes of path are remembered.
const pathLog = 256

// Stats say what a runtime counted since it began, and what waits in it now.
type Stats struct {
	Sessions []SessionStats
	Peers    []PeerStats
	Paths    []PathTaken // the newest 256, the oldest first
	Dropped  uint64      // frames that could not be used
}

// SessionStats are those of one session: a peer, and a lane to it.
type SessionStats struct {
	Session        uint64 // its number
	Peer           string // runtime URL
	Lane           string
	Path           Path          // that messages prefer now
	RTT            time.Duration // of that path, as its last probes found it; 0: not measured
	Acknowledged   uint64        // messages that the peer said it is done with
	Resent         uint64        // pieces of messages that were sent again
	Repeated       uint64        // pieces that came again, and were dropped
	Queued         int           // bytes that wait to be sent
	Unacknowledged int           // bytes that were sent, and that the peer is not done with
}

// PeerStats are those of one peer connection.
type PeerStats struct {
	Peer string // runtime URL
	p2p.Stats
}

// PathTaken says that messages of a session took another path.
type PathTaken struct {
	At       time.Time
	Peer     string // runtime URL
	Session  uint64
	From, To Path
	Reason   string
}

// Stats gives what was counted.
func (r *Runtime) Stats(ctx context.Context) (Stats, error) {
	in := statsInput{make(chan counted, 1)}
	if !r.inbox.put(in) {
		return Stats{}, &Error{Code: Closed}
	}
	select {
	case c, ok := <-in.answer:
		if !ok {
			return Stats{}, &Error{Code: Closed}
		}
		for _, p := range c.peers {
			if s, ok := p.stub.Stats(); ok { // it may wait for the connection, which the loop must not
				c.stats.Peers = append(c.stats.Peers, PeerStats{p.peer, s})
			}
		}
		return c.stats, nil
	case <-ctx.Done():
		return Stats{}, contextError(ctx)
	}
}

// counted is an answer of the loop: what it knows, and whom else to ask.
type counted struct {
	stats Stats
	peers []*peerStub
}

// statsInput is a question of Stats. The answer is closed if there will be none.
type statsInput struct{ answer chan counted }

func (in statsInput) apply(l *loop) {
	l.lastJob++
	l.counts[l.lastJob] = &counting{answer: in.answer}
	l.tell(&engine.StatsAsked{Job: l.lastJob})
}

// counting is an answer that is being put together.
type counting struct {
	stats  Stats
	answer chan counted
}

func (l *loop) countedSession(e *engine.SessionStats) {
	if c := l.counts[e.Job]; c != nil {
		c.stats.Sessions = append(c.stats.Sessions, SessionStats{
			Session: e.Session, Peer: e.Peer.String(), Lane: e.Lane, Path: Path(e.Path), RTT: milli(engine.Instant(e.RTT)),
			Acknowledged: e.Acknowledged, Resent: e.Resent, Repeated: e.Repeated, Queued: e.Queued, Unacknowledged: e.Unacknowledged,
		})
	}
}

func (l *loop) countedAll(e *engine.Stats) {
	c := l.counts[e.Job]
	if c == nil {
		return
	}
	delete(l.counts, e.Job)
	c.stats.Dropped = e.Dropped
	c.stats.Paths = slices.Clone(l.paths.taken)
	result := counted{stats: c.stats}
	for _, number := range slices.Sorted(maps.Keys(l.peers)) {
		result.peers = append(result.peers, l.peers[number])
	}
	c.answer <- result
}

// pathHistory is the log of path changes.
type pathHistory struct {
	taken []PathTaken
	last  map[uint64]Path // of each session
}

func (p *pathHistory) took(e *engine.PathChanged, at time.Time) {
	from, ok := p.last[e.Session]
	if !ok {
		from = Relay // where every session begins
	}
	if p.last == nil || len(p.last) > pathLog {
		p.last = map[uint64]Path{}
	}
	p.last[e.Session] = Path(e.Path)
	if len(p.taken) == pathLog {
		p.taken = slices.Delete(p.taken, 0, 1)
	}
	p.taken = append(p.taken, PathTaken{At: at, Peer: e.Peer.String(), Session: e.Session, From: from, To: Path(e.Path), Reason: e.Reason})
}

package engine

import (
	"github.com/hyroute/hyroute/runtime/resolver"
	"github.com/hyroute/hyroute/runtime/session"
)

// explain says how a message would go now.
func (e *Engine) explain(ev *ExplanationAsked) {
	r := e.resolver.Route(ev.From, ev.To, ev.Wish == WishNever, false)
	x := &Explained{Job: ev.Job, By: r.By.String(), Peer: r.Peer, Reason: r.Reason, Steps: r.Steps}
	switch r.By {
	case resolver.ByLocal:
		x.Path = "local"
	case resolver.ByNode, resolver.ByLookup:
		x.Path, x.Stub = "relay", e.resolver.Node(r.Domain)
	case resolver.BySession:
		x.Path, x.Stub = "relay", e.resolver.Node(r.Domain)
		if stub, direct, known := e.sessions.Path(r.Peer, sessionKey(r, "")); known {
			x.Stub = stub
			if direct {
				x.Path = "direct"
			}
		}
	}
	e.emit(x)
}

// stats says what the sessions counted.
func (e *Engine) stats(job uint64) {
	for _, s := range e.sessions.Stats() {
		e.emit(&SessionStats{
			Job: job, Session: s.Session, Peer: s.Peer, Stub: s.Stub, Lane: s.Lane, Path: pathOf(s.Direct), RTT: s.RTT,
			Acknowledged: s.Acknowledged, Resent: s.Resent, Repeated: s.Repeated, Queued: s.Queued, Unacknowledged: s.Unacknowledged,
		})
	}
	e.emit(&Stats{Job: job, Dropped: e.sessions.Dropped()})
}

func pathOf(direct bool) string {
	if direct {
		return "direct"
	}
	return "relay"
}

// preferred learns that a session changed its carrier.
func (e *Engine) preferred(a *session.Preferred) {
	if p := e.peerings[a.Peer]; p != nil && p.stub != 0 {
		e.resolver.SetPeer(a.Peer, resolver.PeerStub{Stub: p.stub, Live: a.Direct})
	}
	e.emit(&PathChanged{Peer: a.Peer, Session: a.Session, Stub: a.Stub, Path: pathOf(a.Direct), Reason: a.Reason})
}

package wire

import "github.com/hyroute/hyroute/runtime/engine"

// effect walks over the field list of an effect, its verb first.
func (f *fields) effect(e engine.Effect) {
	switch e := e.(type) {
	case *engine.DeployNodeStub:
		f.verb("deploy-node-stub")
		deployNodeStub(f, e)
	case *engine.ConnectStub:
		f.verb("connect-stub")
		connectStub(f, e)
	case *engine.CloseStub:
		f.verb("close-stub")
		closeStub(f, e)
	case *engine.Subscribe:
		f.verb("subscribe")
		subscribe(f, e)
	case *engine.Unsubscribe:
		f.verb("unsubscribe")
		unsubscribe(f, e)
	case *engine.RegisterEndpoint:
		f.verb("register-endpoint")
		registerEndpoint(f, e)
	case *engine.RefreshEndpoint:
		f.verb("refresh-endpoint")
		refreshEndpoint(f, e)
	case *engine.UnregisterEndpoint:
		f.verb("unregister-endpoint")
		unregisterEndpoint(f, e)
	case *engine.QueryRegistry:
		f.verb("query-registry")
		queryRegistry(f, e)
	case *engine.NameHandle:
		f.verb("name-handle")
		nameHandle(f, e)
	case *engine.Transmit:
		f.verb("transmit")
		transmit(f, e)
	case *engine.Forward:
		f.verb("forward")
		forward(f, e)
	case *engine.Hold:
		f.verb("hold")
		hold(f, e)
	case *engine.Drop:
		f.verb("drop")
		drop(f, e)
	case *engine.Deliver:
		f.verb("deliver")
		deliver(f, e)
	case *engine.Discard:
		f.verb("discard")
		discard(f, e)
	case *engine.Settle:
		f.verb("settle")
		settle(f, e)
	case *engine.GiveUpAnswer:
		f.verb("give-up-answer")
		giveUpAnswer(f, e)
	case *engine.Release:
		f.verb("release")
		release(f, e)
	case *engine.Signal:
		f.verb("signal")
		signal(f, e)
	case *engine.DialPeer:
		f.verb("dial-peer")
		dialPeer(f, e)
	case *engine.AnswerPeer:
		f.verb("answer-peer")
		answerPeer(f, e)
	case *engine.RestartPeer:
		f.verb("restart-peer")
		restartPeer(f, e)
	case *engine.Routed:
		f.verb("routed")
		routed(f, e)
	case *engine.PathChanged:
		f.verb("path-changed")
		pathChanged(f, e)
	case *engine.SessionReset:
		f.verb("session-reset")
		sessionReset(f, e)
	case *engine.Gap:
		f.verb("gap")
		gap(f, e)
	case *engine.PresenceChanged:
		f.verb("presence-changed")
		presenceChanged(f, e)
	case *engine.Explained:
		f.verb("explained")
		explained(f, e)
	case *engine.SessionStats:
		f.verb("session-stats")
		sessionStats(f, e)
	case *engine.Stats:
		f.verb("stats")
		f.number("job", &e.Job)
		f.number("dropped", &e.Dropped)
	case *engine.Wake:
		f.verb("wake")
		wake(f, e)
	}
}

// newEffect is the empty effect of a verb, nil if there is none.
func newEffect(verb []byte) engine.Effect {
	switch string(verb) {
	case "deploy-node-stub":
		return new(engine.DeployNodeStub)
	case "connect-stub":
		return new(engine.ConnectStub)
	case "close-stub":
		return new(engine.CloseStub)
	case "subscribe":
		return new(engine.Subscribe)
	case "unsubscribe":
		return new(engine.Unsubscribe)
	case "register-endpoint":
		return new(engine.RegisterEndpoint)
	case "refresh-endpoint":
		return new(engine.RefreshEndpoint)
	case "unregister-endpoint":
		return new(engine.UnregisterEndpoint)
	case "query-registry":
		return new(engine.QueryRegistry)
	case "name-handle":
		return new(engine.NameHandle)
	case "transmit":
		return new(engine.Transmit)
	case "forward":
		return new(engine.Forward)
	case "hold":
		return new(engine.Hold)
	case "drop":
		return new(engine.Drop)
	case "deliver":
		return new(engine.Deliver)
	case "discard":
		return new(engine.Discard)
	case "settle":
		return new(engine.Settle)
	case "give-up-answer":
		return new(engine.GiveUpAnswer)
	case "release":
		return new(engine.Release)
	case "signal":
		return new(engine.Signal)
	case "dial-peer":
		return new(engine.DialPeer)
	case "answer-peer":
		return new(engine.AnswerPeer)
	case "restart-peer":
		return new(engine.RestartPeer)
	case "routed":
		return new(engine.Routed)
	case "path-changed":
		return new(engine.PathChanged)
	case "session-reset":
		return new(engine.SessionReset)
	case "gap":
		return new(engine.Gap)
	case "presence-changed":
		return new(engine.PresenceChanged)
	case "explained":
		return new(engine.Explained)
	case "session-stats":
		return new(engine.SessionStats)
	case "stats":
		return new(engine.Stats)
	case "wake":
		return new(engine.Wake)
	}
	return nil
}

func deployNodeStub(f *fields, e *engine.DeployNodeStub) {
	f.number("stub", &e.Stub)
	f.text("domain", &e.Domain)
}

func connectStub(f *fields, e *engine.ConnectStub) {
	f.number("stub", &e.Stub)
}

func closeStub(f *fields, e *engine.CloseStub) {
	f.number("stub", &e.Stub)
}

func subscribe(f *fields, e *engine.Subscribe) {
	f.number("job", &e.Job)
	f.number("stub", &e.Stub)
	f.addressList("addresses", &e.Addresses)
}

func unsubscribe(f *fields, e *engine.Unsubscribe) {
	f.number("job", &e.Job)
	f.number("stub", &e.Stub)
	f.addressList("addresses", &e.Addresses)
}

func registerEndpoint(f *fields, e *engine.RegisterEndpoint) {
	f.number("job", &e.Job)
	f.number("stub", &e.Stub)
	f.address("address", &e.Address)
	f.number("expires", &e.Expires)
}

func refreshEndpoint(f *fields, e *engine.RefreshEndpoint) {
	f.number("job", &e.Job)
	f.number("stub", &e.Stub)
	f.address("address", &e.Address)
}

func unregisterEndpoint(f *fields, e *engine.UnregisterEndpoint) {
	f.number("job", &e.Job)
	f.number("stub", &e.Stub)
	f.address("address", &e.Address)
}

func queryRegistry(f *fields, e *engine.QueryRegistry) {
	f.number("job", &e.Job)
	f.number("stub", &e.Stub)
	f.address("registry", &e.Registry)
	f.address("resource", &e.Resource)
}

func nameHandle(f *fields, e *engine.NameHandle) {
	f.number("stub", &e.Stub)
	f.number("handle", &e.Handle)
	f.address("runtime", &e.Runtime)
}

func transmit(f *fields, e *engine.Transmit) {
	f.number("stub", &e.Stub)
	f.number("handle", &e.Handle)
	f.bytes("head", &e.Head)
	f.count("pad", &e.Pad)
	f.parts("parts", &e.Parts)
}

func forward(f *fields, e *engine.Forward) {
	f.number("msg", &e.Msg)
	f.number("stub", &e.Stub)
}

func hold(f *fields, e *engine.Hold) {
	f.number("session", &e.Session)
	f.number("number", &e.Number)
	f.number("frame", &e.Frame)
	f.count("offset", &e.Offset)
	f.count("length", &e.Length)
}

func drop(f *fields, e *engine.Drop) {
	f.number("session", &e.Session)
	f.number("first", &e.First)
	f.number("last", &e.Last)
}

func deliver(f *fields, e *engine.Deliver) {
	f.number("delivery", &e.Delivery)
	f.number("msg", &e.Msg)
	f.number("json", &e.JSON)
	f.number("session", &e.Session)
	f.number("first", &e.First)
	f.number("last", &e.Last)
	f.address("from", &e.From)
	f.address("to", &e.To)
	f.text("path", &e.Path)
}

func discard(f *fields, e *engine.Discard) {
	f.number("json", &e.JSON)
	f.text("reason", &e.Reason)
}

func settle(f *fields, e *engine.Settle) {
	f.number("msg", &e.Msg)
	f.text("outcome", &e.Outcome)
	f.text("reason", &e.Reason)
	f.flag("maybe", &e.Maybe)
}

func giveUpAnswer(f *fields, e *engine.GiveUpAnswer) {
	f.number("msg", &e.Msg)
}

func release(f *fields, e *engine.Release) {
	f.number("msg", &e.Msg)
}

func signal(f *fields, e *engine.Signal) {
	f.address("peer", &e.Peer)
	f.text("kind", &e.Kind)
	f.number("attempt", &e.Attempt)
	f.addressList("addresses", &e.Addresses)
}

func dialPeer(f *fields, e *engine.DialPeer) {
	f.number("stub", &e.Stub)
	f.address("peer", &e.Peer)
	f.number("attempt", &e.Attempt)
}

func answerPeer(f *fields, e *engine.AnswerPeer) {
	f.number("stub", &e.Stub)
	f.address("peer", &e.Peer)
	f.number("attempt", &e.Attempt)
}

func restartPeer(f *fields, e *engine.RestartPeer) {
	f.number("stub", &e.Stub)
	f.number("generation", &e.Generation)
}

func routed(f *fields, e *engine.Routed) {
	f.address("from", &e.From)
	f.address("to", &e.To)
	f.text("by", &e.By)
	f.number("stub", &e.Stub)
	f.address("peer", &e.Peer)
	f.text("reason", &e.Reason)
	f.steps("steps", &e.Steps)
}

func pathChanged(f *fields, e *engine.PathChanged) {
	f.address("peer", &e.Peer)
	f.number("session", &e.Session)
	f.number("stub", &e.Stub)
	f.text("path", &e.Path)
	f.text("reason", &e.Reason)
}

func sessionReset(f *fields, e *engine.SessionReset) {
	f.address("peer", &e.Peer)
	f.number("session", &e.Session)
	f.number("doubt", &e.Doubt)
	f.text("reason", &e.Reason)
}

func gap(f *fields, e *engine.Gap) {
	f.address("peer", &e.Peer)
	f.number("session", &e.Session)
}

func presenceChanged(f *fields, e *engine.PresenceChanged) {
	f.address("peer", &e.Peer)
	f.text("status", &e.Status)
	f.text("reason", &e.Reason)
}

func explained(f *fields, e *engine.Explained) {
	f.number("job", &e.Job)
	f.text("by", &e.By)
	f.number("stub", &e.Stub)
	f.address("peer", &e.Peer)
	f.text("path", &e.Path)
	f.text("reason", &e.Reason)
	f.steps("steps", &e.Steps)
}

func sessionStats(f *fields, e *engine.SessionStats) {
	f.number("job", &e.Job)
	f.number("session", &e.Session)
	f.address("peer", &e.Peer)
	f.number("stub", &e.Stub)
	f.text("lane", &e.Lane)
	f.text("path", &e.Path)
	f.number("rtt", &e.RTT)
	f.number("acknowledged", &e.Acknowledged)
	f.number("resent", &e.Resent)
	f.number("repeated", &e.Repeated)
	f.count("queued", &e.Queued)
	f.count("unacknowledged", &e.Unacknowledged)
}

func wake(f *fields, e *engine.Wake) {
	f.time("at", (*uint64)(&e.At))
}

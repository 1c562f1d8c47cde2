package host

import (
	"errors"
	"fmt"

	"github.com/hyroute/hyroute/p2p"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
)

// nodeStub is a Message Node stub with the number that the machine gave it.
type nodeStub struct {
	stub   *stubs.Node
	domain string
}

// peerStub is the same of a peer stub.
type peerStub struct {
	stub *p2p.Stub
	peer string
}

// stub is the stub of that number, or nil.
func (l *loop) stub(number uint64) stubs.Stub {
	if n := l.nodes[number]; n != nil {
		return n.stub
	}
	if p := l.peers[number]; p != nil {
		return p.stub
	}
	return nil
}

// lost counts frames that could not leave for another reason than that the stub is not connected.
func (l *loop) lost(err error) {
	if !errors.Is(err, stubs.ErrNotLive) {
		l.problem("a frame was lost: " + err.Error())
	}
}

func sendFault(to string, err error) error {
	switch {
	case errors.Is(err, stubs.ErrTooBig):
		return &Error{Code: TooBig, To: to, Err: err}
	case errors.Is(err, stubs.ErrFull):
		return &Error{Code: TooMany, To: to, Err: err}
	}
	return &Error{Code: NoMessageNode, To: to, Err: err}
}

// carry carries out the effects that are about stubs.
func (l *loop) carry(effect engine.Effect) {
	switch e := effect.(type) {
	case *engine.DeployNodeStub:
		l.deployNode(e)
	case *engine.ConnectStub:
		if n := l.nodes[e.Stub]; n != nil {
			n.stub.Connect()
		}
	case *engine.CloseStub:
		l.closeStub(e.Stub)
	case *engine.DialPeer:
		l.peers[e.Stub] = &peerStub{l.p2p.Dial(e.Peer, e.Attempt, l.sink(e.Stub)), e.Peer.String()}
	case *engine.AnswerPeer:
		l.peers[e.Stub] = &peerStub{l.p2p.Answer(e.Peer, e.Attempt, l.sink(e.Stub)), e.Peer.String()}
	case *engine.RestartPeer:
		if p := l.peers[e.Stub]; p != nil {
			p.stub.Restart(e.Generation)
		}
	case *engine.Signal:
		if err := l.p2p.Signal(e.Peer, e.Kind, e.Attempt, e.Addresses); err != nil {
			l.problem(fmt.Sprintf("a signal %q to %s: %v", e.Kind, e.Peer, err))
		}
	case *engine.NameHandle:
		if n := l.nodes[e.Stub]; n != nil {
			if err := n.stub.Name(e.Handle, e.Runtime); err != nil {
				l.lost(err)
			}
		}
	default:
		l.ask(effect)
	}
}

// ask carries out the questions to a node.
func (l *loop) ask(effect engine.Effect) {
	var job, stub uint64
	var question func(*stubs.Node) error
	switch e := effect.(type) {
	case *engine.QueryRegistry:
		job, stub = e.Job, e.Stub
		question = func(n *stubs.Node) error { return n.Query(e.Job, e.Registry, e.Resource) }
	case *engine.RegisterEndpoint:
		if endpoint := l.endpoints[e.Address]; endpoint != nil {
			l.claims[e.Job] = endpoint
		}
		job, stub = e.Job, e.Stub
		question = func(n *stubs.Node) error { return n.Register(e.Job, e.Address, e.Expires) }
	case *engine.RefreshEndpoint:
		job, stub = e.Job, e.Stub
		question = func(n *stubs.Node) error { return n.Refresh(e.Job, e.Address) }
	case *engine.UnregisterEndpoint:
		job, stub = e.Job, e.Stub
		question = func(n *stubs.Node) error { return n.Unregister(e.Job, e.Address) }
	case *engine.Subscribe:
		job, stub = e.Job, e.Stub
		question = func(n *stubs.Node) error { return n.Subscribe(e.Job, e.Addresses) }
	case *engine.Unsubscribe:
		job, stub = e.Job, e.Stub
		question = func(n *stubs.Node) error { return n.Unsubscribe(e.Job, e.Addresses) }
	default:
		l.problem(fmt.Sprintf("the machine asks for a %T, which this body does not know", effect))
		return
	}
	// A question that can not be asked now is answered by the stub's next event, or by its job's deadline.
	if n := l.nodes[stub]; n != nil {
		if err := question(n.stub); err != nil {
			delete(l.claims, job)
			l.lost(err)
		}
	}
}

func (l *loop) deployNode(e *engine.DeployNodeStub) {
	own := e.Domain == l.runtime.domain
	var first *stubs.Socket
	if own {
		first, l.first = l.first, nil
	}
	n := stubs.NewNode(stubs.NodeConfig{
		URL: l.runtime.nodeURL(e.Domain), Domain: e.Domain, Runtime: l.runtime.url, Key: l.runtime.options.Key,
		Dial: l.runtime.options.Dial, Sink: l.sink(e.Stub),
	}, first)
	l.nodes[e.Stub] = &nodeStub{n, e.Domain}
	l.runtime.routes.set(e.Domain, n)
	n.Connect()
}

// closeStub closes and forgets a stub of either kind.
func (l *loop) closeStub(number uint64) {
	s := l.stub(number)
	if s == nil {
		return
	}
	if n := l.nodes[number]; n != nil {
		l.runtime.routes.remove(n.domain, n.stub)
		delete(l.nodes, number)
	}
	delete(l.peers, number)
	s.Close()
	l.draining.Go(func() { <-s.Done() })
}

// sink takes the events of a stub. Only those that hold what others sent may wait.
func (l *loop) sink(number uint64) func(stubs.Event) {
	inbox := l.runtime.inbox
	return func(event stubs.Event) {
		switch e := event.(type) {
		case stubs.Frame:
			in := &frameInput{event: engine.FrameReceived{Stub: number, Handle: e.Handle, Head: e.Head, Size: len(e.Payload)}, payload: e.Payload}
			if inbox.putWeighed(in, len(e.Head)+len(e.Payload)+64) {
				l.runHere()
			}
		case stubs.Received:
			if l.p2p.IsSignal(e.Envelope) {
				// Verifying takes longer than all else, and needs nothing that the loop owns.
				in, err := l.p2p.Receive(e.Envelope)
				inbox.put(signalInput{in, err})
				return
			}
			if inbox.putWeighed(stubInput{number, e}, len(e.Envelope.Body)+256) {
				l.runHere()
			}
		default:
			inbox.put(stubInput{number, e})
		}
	}
}

// BreakDirect closes all peer connections as a fault would, behind the machine's back. It is for tests and demonstrations:
// messages go on by the Message Node, and new connections are made.
func (r *Runtime) BreakDirect() { r.inbox.put(breakInput{}) }

// NetworkChanged says that this machine's network is another one: paths and sockets are probed at once, and peer connections look for
// other paths. A program that hears of it from its system says so; without, silence tells, seconds later.
func (r *Runtime) NetworkChanged() { r.inbox.put(networkInput{}) }

type networkInput struct{}

func (networkInput) apply(l *loop) { l.tell(&engine.NetworkChanged{}) }

type breakInput struct{}

func (breakInput) apply(l *loop) {
	for _, p := range l.peers {
		p.stub.Break()
	}
}

// signalInput is a signal that came in, or why it was dropped.
type signalInput struct {
	signal p2p.Incoming
	err    error
}

func (in signalInput) apply(l *loop) {
	s := in.signal
	switch {
	case in.err != nil:
		l.problem(in.err.Error())
	case s.ForMachine():
		l.tell(&engine.SignalReceived{Peer: s.Peer, Kind: s.Kind, Attempt: s.Attempt})
	case s.Kind == "list":
		l.tell(&engine.PeerListed{Peer: s.Peer, Addresses: s.Addresses})
	}
}

// frameInput is a session frame that came in.
type frameInput struct {
	event   engine.FrameReceived
	payload []byte
}

func (in *frameInput) apply(l *loop) {
	if l.stub(in.event.Stub) != nil { // it was not closed meanwhile
		in.event.Frame = l.frames.add(in.payload)
		l.tell(&in.event)
	}
}

// stubInput is another event of a stub.
type stubInput struct {
	stub  uint64
	event stubs.Event
}

func (in stubInput) apply(l *loop) {
	if l.stub(in.stub) == nil {
		return // it was closed meanwhile
	}
	switch e := in.event.(type) {
	case stubs.Blocked:
		l.tell(&engine.StubBlocked{Stub: in.stub})
	case stubs.Writable:
		l.tell(&engine.StubWritable{Stub: in.stub})
	case stubs.Changed:
		l.changed(in.stub, e)
	case stubs.Named:
		l.tell(&engine.HandleNamed{Stub: in.stub, Handle: e.Handle, Runtime: e.Runtime})
	case stubs.Noticed:
		l.tell(&engine.NoticeReceived{Stub: in.stub, Handle: e.Handle, Reason: uint64(e.Reason), Head: e.Head})
	case stubs.Answered:
		l.answered(e)
	case stubs.Notified:
		l.tell(&engine.RegistrationNotified{Address: e.Entity, Status: e.Status})
	case stubs.Received:
		l.received(in.stub, e.Envelope)
	case stubs.Opened:
		l.named(in.stub, e.ICEServers)
	case stubs.Renewed:
		l.named(in.stub, e.ICEServers)
	case stubs.Complained:
		l.problem(e.Text)
	}
}

// named takes the ICE servers that a node names. Servers that learn a runtime's addresses are for its own node to name.
func (l *loop) named(stub uint64, servers []ICEServer) {
	if l.nodes[stub].domain == l.runtime.domain && l.runtime.options.ICEServers == nil {
		l.p2p.SetICEServers(servers)
	}
}

func (l *loop) changed(number uint64, c stubs.Changed) {
	w := &l.runtime.watchers
	if n := l.nodes[number]; n != nil {
		w.tell(NodeChanged{Domain: n.domain, Status: c.Status.String(), Resumed: c.Resumed, Reason: c.Reason, Err: c.Err})
	} else {
		w.tell(PeerChanged{Peer: l.peers[number].peer, Status: c.Status.String(), Reason: c.Reason, Err: c.Err})
	}
	l.tell(&engine.StubChanged{Stub: number, Status: engine.Status(c.Status), Resumed: c.Resumed, Reason: c.Reason})
}

func (l *loop) answered(a stubs.Answered) {
	if e := l.claims[a.Job]; e != nil {
		delete(l.claims, a.Job)
		e.claim(a.Code)
		l.runtime.watchers.tell(Registered{Address: e.Address(), Code: a.Code})
	}
	l.tell(&engine.RegistryAnswered{Job: a.Job, Code: a.Code, Runtime: a.Runtime, Sessions: a.Sessions})
}

// received takes a JSON message that answers nothing.
func (l *loop) received(stub uint64, e message.Envelope) {
	from, err := address.Parse(e.From)
	if err != nil {
		l.problem(err.Error())
		return
	}
	to, err := address.Parse(e.To)
	if err != nil {
		l.problem(err.Error())
		return
	}
	l.lastPlain++
	l.plain[l.lastPlain] = plainIn{stub, e}
	l.tell(&engine.JSONReceived{JSON: l.lastPlain, Stub: stub, From: from, To: to})
}

package host

import (
	"fmt"
	"time"

	"github.com/hyroute/hyroute/runtime/engine"
)

// do carries out one effect.
func (l *loop) do(effect engine.Effect) {
	switch e := effect.(type) {
	case *engine.Transmit:
		l.transmit(e)
	case *engine.Hold:
		if chunk, ok := l.frames.slice(e); ok {
			l.held.keep(e.Session, e.Number, chunk)
		} else {
			l.problem(fmt.Sprintf("frame %d has no bytes %d+%d", e.Frame, e.Offset, e.Length))
		}
	case *engine.Drop:
		l.held.drop(e.Session, e.First, e.Last)
	case *engine.Deliver:
		l.deliver(e)
	case *engine.Discard:
		l.discard(e)
	case *engine.Settle:
		l.outbox.settle(e)
	case *engine.GiveUpAnswer:
		l.outbox.giveUp(e.Msg)
	case *engine.Release:
		l.outbox.release(e.Msg)
	case *engine.Forward:
		l.forward(e)
	case *engine.Wake:
		l.wakeAt(e.At)
	case *engine.Routed, *engine.PathChanged, *engine.SessionReset, *engine.Gap, *engine.PresenceChanged, *engine.Explained,
		*engine.SessionStats, *engine.Stats:
		l.record(e)
	default:
		l.carry(e)
	}
}

// record tells those who watch.
func (l *loop) record(effect engine.Effect) {
	w := &l.runtime.watchers
	switch e := effect.(type) {
	case *engine.Routed:
		w.tell(Routed{From: e.From.String(), To: e.To.String(), By: e.By, Peer: e.Peer.String(), Reason: e.Reason, Steps: e.Steps})
	case *engine.SessionStats:
		l.countedSession(e)
	case *engine.Stats:
		l.countedAll(e)
	case *engine.PathChanged:
		l.paths.took(e, l.runtime.options.Clock())
		w.tell(PathChanged{Peer: e.Peer.String(), Path: Path(e.Path), Reason: e.Reason})
	case *engine.PresenceChanged:
		w.tell(PresenceChanged{Peer: e.Peer.String(), Status: e.Status, Reason: e.Reason})
	case *engine.SessionReset:
		w.tell(Reset{Peer: e.Peer.String(), Doubt: e.Doubt, Reason: e.Reason})
	case *engine.Gap:
		w.tell(Gap{Peer: e.Peer.String()})
	case *engine.Explained:
		if answer := l.explanations[e.Job]; answer != nil {
			answer <- Explanation{By: e.By, Path: Path(e.Path), Peer: e.Peer.String(), Reason: e.Reason, Steps: e.Steps}
			delete(l.explanations, e.Job)
		}
	}
}

// alarm is the machine's one timer. It is set anew only to ring earlier: one that rings too early is set again then.
type alarm struct {
	timer *time.Timer
	due   engine.Instant // 0: never
	set   engine.Instant // when it rings; 0: it is not set
}

// wakeAt sets the timer. Instants that are past fire at once.
func (l *loop) wakeAt(at engine.Instant) {
	l.alarm.due = at
	if at != 0 && (l.alarm.set == 0 || at < l.alarm.set) {
		l.alarm.set = at
		due := l.start.Add(milli(at - 1))
		l.alarm.timer.Reset(max(due.Sub(l.runtime.options.Clock()), 0))
	}
}

// rang is the alarm.
type rang struct{}

func (rang) apply(l *loop) {
	l.alarm.set = 0
	switch due := l.alarm.due; {
	case due == 0:
	case due > l.now():
		l.wakeAt(due)
	default:
		l.alarm.due = 0
		l.tell(&engine.TimePassed{})
	}
}

// forward sends a posted message as plain JSON.
func (l *loop) forward(e *engine.Forward) {
	envelope, ok := l.outbox.plain(e.Msg, l.runtime.newID)
	if !ok {
		return
	}
	n := l.nodes[e.Stub]
	if n == nil {
		return
	}
	if err := n.stub.Send(envelope); err != nil {
		if p := l.outbox.posted.get(e.Msg); p != nil {
			p.fault = sendFault(envelope.To, err)
		}
	}
}

// zeros pad probes.
var zeros [20 << 10]byte

// transmit sends a session frame. A frame that can not leave is lost: the session sends its chunks again.
func (l *loop) transmit(e *engine.Transmit) {
	l.pieces = append(l.pieces[:0], e.Head)
	for pad := e.Pad; pad > 0; pad -= len(zeros) {
		l.pieces = append(l.pieces, zeros[:min(pad, len(zeros))])
	}
	path := Direct
	if e.Handle != 0 {
		path = Relay
	}
	for _, part := range e.Parts {
		slice := l.outbox.slice(part, path)
		if slice == nil {
			l.problem(fmt.Sprintf("message %d has no bytes %d+%d", part.Msg, part.Offset, part.Length))
			return
		}
		l.pieces = append(l.pieces, slice)
	}
	s := l.stub(e.Stub)
	if s == nil {
		return
	}
	// Not connected, full, too big: the stub says so by an event of its own, and the session goes on elsewhere.
	if err := s.Transmit(e.Handle, l.pieces...); err != nil {
		l.lost(err)
	}
	clear(l.pieces)
}

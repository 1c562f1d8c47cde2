package p2p

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/hyroute/hyroute/stubs"
)

// channelID and channelLabel are agreed on beforehand: no message is spent on it, and both ends may send once it is open.
const (
	channelID    = 0
	channelLabel = "hyroute"
)

// Stub is a connection to one peer, of one attempt. It is a stubs.Stub without handles.
type Stub struct {
	endpoint      *Endpoint
	id            attemptOf
	dials         bool
	sink          func(stubs.Event)
	configuration webrtc.Configuration
	offer         string        // to be answered
	early         []string      // candidates that came before the stub
	refusal       stubs.Changed // Failed: nothing is tried

	work      chan struct{} // there is something in inbox
	low       chan struct{} // the amount that waits fell to the threshold
	closing   chan struct{} // Close was called
	closeOnce sync.Once
	done      chan struct{}
	reading   sync.WaitGroup

	// Only run's goroutine uses these.
	connection *webrtc.PeerConnection
	described  bool                      // the peer's description is set
	queued     []webrtc.ICECandidateInit // candidates whose description is still to come
	restarts   restarts

	emitting sync.Mutex // one event at a time

	mu      sync.Mutex
	inbox   []func() error // what run has to do next; an error ends the stub
	signals int            // that came in
	since   time.Time      // when the stub was made
	flow    flow
	reports bool                // events may still go to the sink
	leaving *webrtc.DataChannel // was live when Close was called
}

// Close ends the connection, once what waits in it has arrived, or nothing more of it arrives for a few seconds.
func (s *Stub) Close() {
	s.closeOnce.Do(func() {
		s.mu.Lock()
		s.reports = false
		s.leaving, s.flow.channel = s.flow.channel, nil
		s.mu.Unlock()
		close(s.closing)
	})
}

// Done is closed when nothing of the stub is left, after Close or a loss.
func (s *Stub) Done() <-chan struct{} { return s.done }

// Break closes the connection as a fault would: the stub reports a loss. It is for tests and demonstrations.
func (s *Stub) Break() {
	s.do(func() error {
		if s.connection == nil {
			return nil
		}
		return s.connection.Close()
	})
}

func (s *Stub) emit(e stubs.Event) {
	s.mu.Lock()
	reports := s.reports
	s.mu.Unlock()
	if !reports {
		return
	}
	s.emitting.Lock()
	defer s.emitting.Unlock()
	s.sink(e)
}

// do puts something on the list of run. It never blocks: the callbacks of the connection may hold locks.
func (s *Stub) do(f func() error) {
	s.mu.Lock()
	s.inbox = append(s.inbox, f)
	s.mu.Unlock()
	select {
	case s.work <- struct{}{}:
	default:
	}
}

// ended is why a stub is over.
type ended struct {
	reason string
	err    error
}

func (e *ended) Error() string { return e.reason + ": " + e.err.Error() }

// run owns the connection from the first step to the last.
func (s *Stub) run() {
	defer close(s.done)
	s.emit(stubs.Changed{Status: stubs.Created})
	if s.refusal.Status == stubs.Failed {
		s.emit(s.refusal)
		return
	}
	s.emit(stubs.Changed{Status: stubs.InProgress})
	err := s.setUp()
	for err == nil {
		err = s.turn()
	}
	s.mu.Lock()
	wasLive := s.flow.channel != nil
	s.flow.channel = nil
	s.mu.Unlock()
	s.flush()
	if s.connection != nil {
		// The error says only that some part was closed already.
		_ = s.connection.GracefulClose()
	}
	s.reading.Wait() // what had come before the end is told before it
	if !errors.Is(err, errClosing) {
		s.emit(overBecause(err, wasLive))
	}
	s.endpoint.forget(s)
}

var errClosing = errors.New("p2p: closing")

func overBecause(err error, wasLive bool) stubs.Changed {
	c := stubs.Changed{Status: stubs.Failed, Reason: "set-up", Err: err}
	if wasLive {
		c.Status = stubs.Disconnected
	}
	var e *ended
	if errors.As(err, &e) {
		c.Reason = e.reason
	}
	return c
}

// turn waits for the next thing to do, and does it.
func (s *Stub) turn() error {
	select {
	case <-s.closing:
		return errClosing
	case <-s.low:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flow.fell(s.sink)
		return nil
	case <-s.work:
	}
	s.mu.Lock()
	list := s.inbox
	s.inbox = nil
	s.mu.Unlock()
	for _, f := range list {
		select {
		case <-s.closing:
			return errClosing
		default:
		}
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// setUp makes the connection and sends the description.
func (s *Stub) setUp() error {
	var err error
	s.connection, err = s.endpoint.api.NewPeerConnection(s.configuration)
	if err != nil && len(s.configuration.ICEServers) > 0 {
		s.emit(stubs.Complained{Text: "p2p: the node's ICE servers can not be used: " + err.Error()})
		s.configuration.ICEServers = nil
		s.connection, err = s.endpoint.api.NewPeerConnection(s.configuration)
	}
	if err != nil {
		return err
	}
	if err := s.openChannel(); err != nil {
		return err
	}
	s.connection.OnICECandidate(func(c *webrtc.ICECandidate) {
		if c == nil {
			return
		}
		s.do(func() error { return s.sendCandidate(c.ToJSON()) })
	})
	s.connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		switch state {
		case webrtc.PeerConnectionStateFailed:
			s.do(func() error { return &ended{"ice-failed", errors.New("p2p: no path to the peer")} })
		case webrtc.PeerConnectionStateClosed:
			s.do(func() error { return &ended{"closed", errors.New("p2p: the peer closed the connection")} })
		}
	})
	for _, c := range s.early {
		s.candidate(c)
	}
	if s.dials {
		return s.sendOffer()
	}
	return s.sendAnswer()
}

func (s *Stub) sendOffer() error {
	offer, err := s.connection.CreateOffer(nil)
	if err != nil {
		return err
	}
	if err := s.connection.SetLocalDescription(offer); err != nil {
		return err
	}
	return s.send("offer", offer.SDP)
}

func (s *Stub) sendAnswer() error {
	if err := s.describe(webrtc.SDPTypeOffer, s.offer); err != nil {
		return err
	}
	answer, err := s.connection.CreateAnswer(nil)
	if err != nil {
		return err
	}
	if err := s.connection.SetLocalDescription(answer); err != nil {
		return err
	}
	return s.send("answer", answer.SDP)
}

func (s *Stub) sendCandidate(c webrtc.ICECandidateInit) error {
	if d := s.connection.LocalDescription(); d != nil {
		ufrag := ufragOf(d.SDP)
		c.UsernameFragment = &ufrag
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return s.send("candidate", string(text))
}

// send sends a signal. Without signalling nothing comes of an attempt; a connection that is up can do without.
func (s *Stub) send(kind, value string) error {
	err := s.endpoint.send(s.id, kind, value)
	s.mu.Lock()
	live := s.flow.channel != nil
	s.mu.Unlock()
	if err != nil && !live {
		return &ended{"no-signalling", err}
	}
	return nil
}

// signalled takes a description or a candidate of the peer.
func (s *Stub) signalled(kind, value string) {
	if s.tooMany() {
		return
	}
	s.do(func() error {
		switch kind {
		case "candidate":
			s.candidate(value)
		case "answer":
			if s.dials && !s.described { // a second answer changes nothing
				return s.describe(webrtc.SDPTypeAnswer, value)
			}
		case "reoffer", "reanswer":
			if err := s.renegotiated(kind, value); err != nil {
				s.complain(kind, err)
			}
		}
		return nil
	})
}

// describe sets the peer's description, and then the candidates that came before it.
func (s *Stub) describe(kind webrtc.SDPType, sdp string) error {
	if err := s.connection.SetRemoteDescription(webrtc.SessionDescription{Type: kind, SDP: sdp}); err != nil {
		return &ended{"bad-description", fmt.Errorf("p2p: the %s of %s: %w", kind, s.id.peer, err)}
	}
	s.described, s.restarts.ufrag = true, ufragOf(sdp)
	s.flushCandidates()
	return nil
}

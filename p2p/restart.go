package p2p

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/hyroute/hyroute/stubs"
)

// restarts is what a stub knows of the generations of its paths (RFC 8445 section 9): the first is that of the connection's own offer,
// each restart makes another. Only run's goroutine uses it.
type restarts struct {
	generation uint64 // of the newest offer
	open       bool   // that one was made here, and is not answered
	ufrag      string // the peer's user name of the paths that are in use or being looked for
}

// Restart looks for other paths (ICE restart), unless that was done for this generation or a later one: then the offer goes again
// if it was not answered, with the candidates found since. It is for the side that dialled, once the stub is live. What was sent
// stays: the channel goes on where it was.
func (s *Stub) Restart(generation uint64) {
	s.do(func() error {
		if err := s.restart(generation); err != nil {
			s.complain("restart", err)
		}
		return nil
	})
}

func (s *Stub) restart(generation uint64) error {
	switch {
	case !s.dials || !s.described || generation < s.restarts.generation:
		return nil
	case generation > s.restarts.generation:
		s.refreshServers()
		offer, err := s.connection.CreateOffer(&webrtc.OfferOptions{ICERestart: true})
		if err != nil {
			return err
		}
		if err := s.connection.SetLocalDescription(offer); err != nil {
			return err
		}
		s.restarts.generation, s.restarts.open = generation, true
	case !s.restarts.open:
		return nil
	}
	return s.endpoint.send(s.id, "reoffer", numbered(generation, s.connection.LocalDescription().SDP))
}

// renegotiated takes an offer or answer of other paths. One of an earlier generation means nothing any more.
func (s *Stub) renegotiated(kind, value string) error {
	generation, sdp, err := readNumbered(value)
	if err != nil {
		return err
	}
	mine := &s.restarts
	switch {
	case !s.described:
	case kind == "reanswer" && s.dials && mine.open && generation == mine.generation:
		mine.open = false
		return s.describe(webrtc.SDPTypeAnswer, sdp)
	case kind == "reoffer" && !s.dials && generation >= mine.generation:
		// The same offer again says that our answer was lost; it may have more candidates.
		if generation > mine.generation {
			s.refreshServers()
		}
		if err := s.describe(webrtc.SDPTypeOffer, sdp); err != nil {
			return err
		}
		mine.generation = generation
		answer, err := s.connection.CreateAnswer(nil)
		if err != nil {
			return err
		}
		if err := s.connection.SetLocalDescription(answer); err != nil {
			return err
		}
		return s.endpoint.send(s.id, "reanswer", numbered(generation, s.connection.LocalDescription().SDP))
	}
	return nil
}

// refreshServers gives the connection the STUN and TURN servers of today: credentials expire.
func (s *Stub) refreshServers() {
	c := s.endpoint.configuration()
	if err := s.connection.SetConfiguration(c); err != nil {
		s.complain("the node's ICE servers", err)
	}
}

// numbered is the value of a signal about a generation: its number, a line feed, the session description.
func numbered(generation uint64, sdp string) string {
	return strconv.FormatUint(generation, 10) + "\n" + sdp
}

func readNumbered(value string) (generation uint64, sdp string, err error) {
	number, sdp, _ := strings.Cut(value, "\n")
	generation, err = strconv.ParseUint(number, 10, 32)
	return generation, sdp, err
}

// Bounds of what a peer may signal in the life of a connection.
const (
	signalsAtOnce    = maxCandidates
	signalsPerSecond = 4
)

// tooMany says whether the peer signals more than a connection needs, restarts included.
func (s *Stub) tooMany() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signals++
	return s.signals > signalsAtOnce+signalsPerSecond*int(time.Since(s.since)/time.Second)
}

// candidate takes a candidate of the peer. It belongs to one generation: one of an earlier generation is dropped, one of a later
// one waits for its description.
func (s *Stub) candidate(value string) {
	var c webrtc.ICECandidateInit
	if err := json.Unmarshal([]byte(value), &c); err != nil {
		s.complain("candidate", err)
		return
	}
	if s.described && s.current(c) {
		s.addCandidate(c)
	} else if len(s.queued) < maxCandidates {
		s.queued = append(s.queued, c)
	}
}

// flushCandidates gives the connection the candidates that waited for this description, and forgets those of others.
func (s *Stub) flushCandidates() {
	queued := s.queued
	s.queued = nil
	for _, c := range queued {
		if s.current(c) {
			s.addCandidate(c)
		}
	}
}

// current says whether a candidate is of the generation that the peer described last, as far as it says.
func (s *Stub) current(c webrtc.ICECandidateInit) bool {
	return c.UsernameFragment == nil || *c.UsernameFragment == s.restarts.ufrag
}

// addCandidate takes one candidate. One that can not be used, such as a name that can not be resolved, is no reason to give up:
// there are others.
func (s *Stub) addCandidate(c webrtc.ICECandidateInit) {
	if err := s.connection.AddICECandidate(c); err != nil {
		s.complain("candidate", err)
	}
}

// ufragOf is the user name of the paths that a session description is about.
func ufragOf(sdp string) string {
	_, rest, _ := strings.Cut(sdp, "a=ice-ufrag:")
	ufrag, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(ufrag)
}

func (s *Stub) complain(what string, err error) {
	s.emit(stubs.Complained{Text: fmt.Sprintf("p2p: %s of %s: %v", what, s.id.peer, err)})
}

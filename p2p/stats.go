package p2p

import (
	"time"

	"github.com/pion/webrtc/v4"
)

// Stats say how a connection goes.
type Stats struct {
	Local, Remote            string        // kinds of the candidates in use: host, srflx, prflx, relay; empty: none yet
	RTT                      time.Duration // of that pair, as ICE measured it; 0: not measured
	BytesSent, BytesReceived uint64        // on that pair
}

// Stats gives the present ones. It is false while there is no connection.
func (s *Stub) Stats() (stats Stats, ok bool) {
	answer := make(chan Stats, 1) // what is done for it is done once the connection is made
	s.do(func() error {
		answer <- summary(s.connection)
		return nil
	})
	select {
	case stats = <-answer:
		return stats, true
	case <-s.done:
		return Stats{}, false
	}
}

func summary(c *webrtc.PeerConnection) (stats Stats) {
	pair, err := c.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	if err != nil || pair == nil {
		return stats
	}
	stats.Local, stats.Remote = pair.Local.Typ.String(), pair.Remote.Typ.String()
	if x, ok := c.SCTP().Transport().ICETransport().GetSelectedCandidatePairStats(); ok {
		stats.RTT = time.Duration(x.CurrentRoundTripTime * float64(time.Second))
		stats.BytesSent, stats.BytesReceived = x.BytesSent, x.BytesReceived
	}
	return stats
}

package engine

import (
	"github.com/hyroute/hyroute/runtime/resolver"
	"github.com/hyroute/hyroute/runtime/session"
)

// Numbers are the timers and limits of the machine. Times are in milliseconds.
type Numbers struct {
	Deadline      uint64 // of a message that names none
	Read          uint64 // a question to the node is answered within
	Probe         uint64 // a question that only shows whether the node is there, after the network changed, is answered within
	Connect       uint64 // a peer connection is up within
	Invite        uint64 // first pause before an invitation is repeated; doubles
	Again         uint64 // first pause before an unanswered or negative READ is repeated; doubles
	AgainMost     uint64
	Reconnect     uint64 // first pause before a node stub is connected again; doubles, full jitter
	ReconnectMax  uint64
	Soon          uint64 // a node that went away so long ago at most is about to be back
	ReconnectSoon uint64 // the longest pause meanwhile
	Settled       uint64 // live for so long: the pause starts over
	Expires       uint64 // seconds: asked for in the Domain Registry
	Hold          uint64 // first pause before a peer connection is tried again; doubles
	HoldMost      uint64
	Restart       uint64 // between two restarts that a peer asked for
	Refused       uint64 // pause after the peer refused one
	Connections   int    // peer connections at most
	PerMinute     int    // new ones a minute that others asked for
	Waiting       int    // messages that wait for one answer, or for one node
	WaitingBytes  int
	Lookups       int
	Handed        int // plain messages that listeners have not taken
	Endpoints     int
	Listed        int // addresses of a peer's list that are looked up
	Moves         int // how often a message follows an address that moved
	Flows         int // decisions remembered, to record only new ones
	Resolver      resolver.Numbers
	Session       session.Numbers
}

// DefaultNumbers are the defaults.
func DefaultNumbers() Numbers {
	return Numbers{
		Deadline: 30_000, Read: 5000, Probe: 2000, Connect: 15_000, Invite: 1000, Again: 2000, AgainMost: 10_000,
		Reconnect: 500, ReconnectMax: 20_000, Soon: 30_000, ReconnectSoon: 2000, Settled: 5000, Expires: 3600,
		Hold: 1000, HoldMost: 60_000, Restart: 5000, Refused: 60_000, Connections: 64, PerMinute: 10,
		Waiting: 4096, WaitingBytes: 4 << 20, Lookups: 1000, Handed: 10_000, Endpoints: 10_000, Listed: 16, Moves: 2, Flows: 1024,
		Resolver: resolver.DefaultNumbers(), Session: session.DefaultNumbers(),
	}
}

package engine

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/session"
)

// An Effect is what the machine asks of its body. Effects are imperatives; wasm/ABI.md has the table.
type Effect interface{ effect() }

// DeployNodeStub asks for a Message Node stub for Domain, connected.
type DeployNodeStub struct {
	Stub   uint64
	Domain string
}

// ConnectStub asks to connect a node stub again.
type ConnectStub struct{ Stub uint64 }

// CloseStub asks to close and forget a stub.
type CloseStub struct{ Stub uint64 }

// Subscribe asks the node for messages to these addresses.
type Subscribe struct {
	Job, Stub uint64
	Addresses []address.Address
}

// Unsubscribe takes Subscribe back.
type Unsubscribe struct {
	Job, Stub uint64
	Addresses []address.Address
}

// RegisterEndpoint asks for a Domain Registry entry.
type RegisterEndpoint struct {
	Job, Stub uint64
	Address   address.Address
	Expires   uint64 // seconds
}

// RefreshEndpoint keeps an entry alive.
type RefreshEndpoint struct {
	Job, Stub uint64
	Address   address.Address
}

// UnregisterEndpoint deletes an entry.
type UnregisterEndpoint struct {
	Job, Stub uint64
	Address   address.Address
}

// QueryRegistry asks a Domain Registry where Resource lives (steps 9-14).
type QueryRegistry struct {
	Job, Stub uint64
	Registry  address.Address
	Resource  address.Address
}

// NameHandle sends NAME.
type NameHandle struct {
	Stub, Handle uint64
	Runtime      address.Address
}

// Part is a slice of the content of a posted message.
type Part = session.Part

// Transmit sends one session frame: Head, Pad zero bytes, the Parts.
type Transmit struct {
	Stub   uint64
	Handle uint64 // 0: on the data channel
	Head   []byte
	Pad    int
	Parts  []Part
}

// Forward sends a posted message as plain JSON.
type Forward struct{ Msg, Stub uint64 }

// Hold keeps a slice of the payload of Frame as chunk Number of Session.
type Hold struct {
	Session, Number uint64
	Frame           uint64
	Offset, Length  int
}

// Drop forgets held chunks.
type Drop struct{ Session, First, Last uint64 }

// Deliver hands a message to the listener of To.
type Deliver struct {
	Delivery             uint64
	Msg                  uint64 // a posted message, or
	JSON                 uint64 // a plain one, or
	Session, First, Last uint64 // held chunks
	From, To             address.Address
	Path                 string // local, relay, direct
}

// Discard forgets a plain message that nobody here wants.
type Discard struct {
	JSON   uint64
	Reason string
}

// Settle tells the sender what became of a message.
type Settle struct {
	Msg     uint64
	Outcome string // delivered, taken, rejected
	Reason  string
	Maybe   bool // rejected, but it may have been delivered
}

// GiveUpAnswer says that no answer came in time.
type GiveUpAnswer struct{ Msg uint64 }

// Release says that the content of a message may be dropped.
type Release struct{ Msg uint64 }

// Signal sends a signed signal.
type Signal struct {
	Peer      address.Address
	Kind      string
	Attempt   uint64
	Addresses []address.Address // of a list
}

// DialPeer makes a peer connection and sends the offer (steps 18-22).
type DialPeer struct {
	Stub    uint64
	Peer    address.Address
	Attempt uint64
}

// AnswerPeer makes a peer connection and answers the offer of that attempt.
type AnswerPeer struct {
	Stub    uint64
	Peer    address.Address
	Attempt uint64
}

// RestartPeer looks for other paths for the connection of a peer stub (ICE restart), unless that was done for this Generation or a
// later one: then the offer goes again if it was not answered.
type RestartPeer struct{ Stub, Generation uint64 }

// Routed records a decision taken anew.
type Routed struct {
	From, To address.Address
	By       string // local, session, node, none
	Stub     uint64
	Peer     address.Address
	Reason   string
	Steps    []uint8 // of the routing document
}

// PathChanged records that a session prefers another carrier.
type PathChanged struct {
	Peer    address.Address
	Session uint64
	Stub    uint64
	Path    string
	Reason  string
}

// SessionReset says that the stream to Peer started over.
type SessionReset struct {
	Peer    address.Address
	Session uint64
	Doubt   uint64
	Reason  string
}

// Gap says that the stream of Peer started over.
type Gap struct {
	Peer    address.Address
	Session uint64
}

// PresenceChanged says that the node does not know Peer now and no data channel answered, or that it is there again.
type PresenceChanged struct {
	Peer   address.Address
	Status string // disconnected, live
	Reason string
}

// Explained answers ExplanationAsked.
type Explained struct {
	Job    uint64
	By     string
	Stub   uint64
	Peer   address.Address
	Path   string
	Reason string
	Steps  []uint8
}

// SessionStats answers StatsAsked for one session.
type SessionStats struct {
	Job, Session   uint64
	Peer           address.Address
	Stub           uint64
	Lane           string
	Path           string // relay, direct
	RTT            uint64
	Acknowledged   uint64 // messages
	Resent         uint64 // chunks
	Repeated       uint64 // chunks
	Queued         int    // bytes
	Unacknowledged int    // bytes
}

// Stats ends the answer to StatsAsked.
type Stats struct {
	Job     uint64
	Dropped uint64 // frames that could not be used
}

// Wake asks for TimePassed at At, in place of the last one asked for. 0: never.
type Wake struct{ At Instant }

func (*DeployNodeStub) effect()     {}
func (*ConnectStub) effect()        {}
func (*CloseStub) effect()          {}
func (*Subscribe) effect()          {}
func (*Unsubscribe) effect()        {}
func (*RegisterEndpoint) effect()   {}
func (*RefreshEndpoint) effect()    {}
func (*UnregisterEndpoint) effect() {}
func (*QueryRegistry) effect()      {}
func (*NameHandle) effect()         {}
func (*Transmit) effect()           {}
func (*Forward) effect()            {}
func (*Hold) effect()               {}
func (*Drop) effect()               {}
func (*Deliver) effect()            {}
func (*Discard) effect()            {}
func (*Settle) effect()             {}
func (*GiveUpAnswer) effect()       {}
func (*Release) effect()            {}
func (*Signal) effect()             {}
func (*DialPeer) effect()           {}
func (*AnswerPeer) effect()         {}
func (*RestartPeer) effect()        {}
func (*Routed) effect()             {}
func (*PathChanged) effect()        {}
func (*SessionReset) effect()       {}
func (*Gap) effect()                {}
func (*PresenceChanged) effect()    {}
func (*Explained) effect()          {}
func (*SessionStats) effect()       {}
func (*Stats) effect()              {}
func (*Wake) effect()               {}

package session

import "github.com/hyroute/hyroute/runtime/address"

// An Action is what a Table asks of its owner.
type Action interface{ action() }

// Part is a slice of the content of a posted message.
type Part struct {
	Msg            uint64
	Offset, Length int
}

// Name asks to define a handle on the relay stub.
type Name struct {
	Stub, Handle uint64
	Peer         address.Address
}

// Transmit asks to send one frame.
type Transmit struct {
	Stub, Handle uint64
	Head         []byte
	Pad          int
	Parts        []Part
}

// Hold asks to keep a slice of the payload of the frame that came in.
type Hold struct {
	Session, Number uint64
	Frame           uint64
	Offset, Length  int
}

// Drop asks to forget held chunks.
type Drop struct{ Session, First, Last uint64 }

// Arrived hands over a whole message, in order. The owner answers with Taken or Refuse, in any order.
type Arrived struct {
	Receipt     Receipt
	First, Last uint64 // the held chunks
	Peer        address.Address
	From, To    address.Address
	Direct      bool // its last chunk came by a data channel
}

// Receipt names a message that was handed over.
type Receipt struct{ Session, Epoch, End uint64 }

// Settled says what became of a posted message. Its content is no longer referenced.
type Settled struct {
	Msg     uint64
	Outcome Outcome
	Maybe   bool // it may have been delivered all the same
}

// Outcome says what became of a posted message.
type Outcome uint8

// Outcomes of a posted message.
const (
	Delivered Outcome = iota + 1
	Expired
	ExpiredNoNode    // no socket to the Message Node and no data channel
	ExpiredNoRuntime // the node said that there is no such runtime
	TooBig
	Reset          // the stream started over
	Closed         // this runtime closed
	Superseded     // a twin of this runtime lives
	PeerNoListener // the peer refused it: nobody listens at its address
	PeerMoved      // the address is not there (any more)
	Unsent         // given back before it was sent, because the address moved
	PeerNotBound   // the sender's address does not belong to this runtime
	PeerUnsupported
	PeerForbidden
	Legacy // the peer has no sessions: send it as a plain message
)

// Refusal codes, as REFUSE chunks carry them.
const (
	RefuseNoListener  = 1
	RefuseMoved       = 2
	RefuseNotBound    = 3
	RefuseUnsupported = 4
	RefuseForbidden   = 5
)

// Preferred says that a session prefers another carrier.
type Preferred struct {
	Session uint64
	Peer    address.Address
	Stub    uint64
	Direct  bool
	Reason  string
}

// StreamReset says that my stream to the peer started over.
type StreamReset struct {
	Session uint64
	Peer    address.Address
	Doubt   uint64
	Reason  string // peer-lost-state, own-state-stale, name-taken
}

// Gap says that the peer's stream to me started over.
type Gap struct {
	Session uint64
	Peer    address.Address
}

// Presence says that the node has no such runtime as the peer now and nothing else shows that it lives, or that it is there again.
type Presence struct {
	Peer   address.Address
	Live   bool
	Reason string // no-such-runtime; heard, registered
}

// CloseChannel asks to close a data channel that is no longer wanted.
type CloseChannel struct {
	Stub uint64
	Peer address.Address
}

// RestartChannel asks for other paths for a data channel that was condemned (ICE restart). Only the deciding side says so.
type RestartChannel struct {
	Stub uint64
	Peer address.Address
}

func (*Name) action()           {}
func (*Transmit) action()       {}
func (*Hold) action()           {}
func (*Drop) action()           {}
func (*Arrived) action()        {}
func (*Settled) action()        {}
func (*Preferred) action()      {}
func (*StreamReset) action()    {}
func (*Gap) action()            {}
func (*Presence) action()       {}
func (*CloseChannel) action()   {}
func (*RestartChannel) action() {}

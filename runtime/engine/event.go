package engine

import "github.com/hyroute/hyroute/runtime/address"

// An Event tells the machine what happened. Events are in the past tense; wasm/ABI.md has the table.
type Event interface{ event() }

// EndpointRegistered says that somebody in this runtime listens at Address.
type EndpointRegistered struct{ Address address.Address }

// EndpointUnregistered says that nobody listens at Address any more.
type EndpointUnregistered struct{ Address address.Address }

// Wish is what the sender of a message says of peer connections.
type Wish uint8

// WishDefault leaves it to the policy, WishNever keeps the message off peer connections.
const (
	WishDefault Wish = iota
	WishNever
)

// MessagePosted says that a message wants to go. Its content stays with the body until Release.
type MessagePosted struct {
	Msg      uint64
	From, To address.Address
	Size     int    // bytes of the content
	Wish     Wish   // may it use peer connections?
	Deadline uint64 // ms from now to be delivered; 0: the default
	Answer   uint64 // ms to wait for an answer once it left; 0: none is wanted
	Plain    bool   // a response of the JSON world: goes back as JSON
	Lane     string // order is kept within a lane only; at most frame.MaxLane bytes
}

// AnswerReceived says that the answer to Msg came.
type AnswerReceived struct{ Msg uint64 }

// FrameReceived says that a session frame came in.
type FrameReceived struct {
	Stub   uint64
	Handle uint64 // of the FORWARD; 0 on a peer stub
	Frame  uint64 // the body's number of the frame, for Hold
	Head   []byte // header, the length byte(s) included
	Size   int    // payload bytes that follow
}

// HandleNamed says that NAME came in on the node stub.
type HandleNamed struct {
	Stub, Handle uint64
	Runtime      address.Address
}

// NoticeReceived says that the node did not pass on a frame of ours.
type NoticeReceived struct {
	Stub, Handle uint64
	Reason       uint64
	Head         []byte
}

// JSONReceived says that a plain message came in.
type JSONReceived struct {
	JSON, Stub uint64
	From, To   address.Address
}

// Status is the state of a stub (routing.md section 5).
type Status uint8

// The states of a stub. Failed is final.
const (
	StatusCreated Status = iota
	StatusInProgress
	StatusLive
	StatusDisconnected
	StatusFailed
)

// StubChanged says that a stub went to another state.
type StubChanged struct {
	Stub    uint64
	Status  Status
	Resumed bool   // the node still has our subscriptions
	Reason  string // token
}

// StubBlocked says that more than the high mark waits to be written.
type StubBlocked struct{ Stub uint64 }

// StubWritable says that what waits to be written fell to the low mark.
type StubWritable struct{ Stub uint64 }

// RegistryAnswered answers a question to the node.
type RegistryAnswered struct {
	Job      uint64
	Code     uint64
	Runtime  address.Address // of a query that found something live
	Sessions bool            // that runtime speaks sessions
}

// RegistrationNotified says that the Domain Registry entry of Address changed.
type RegistrationNotified struct {
	Address address.Address
	Status  string // live, disconnected
}

// SignalReceived says that a verified signal came in.
type SignalReceived struct {
	Peer    address.Address
	Kind    string // invite, accept, refuse, offer, bye, restart
	Attempt uint64
}

// PeerListed says which addresses a peer claims to host.
type PeerListed struct {
	Peer      address.Address
	Addresses []address.Address
}

// NetworkChanged says that this body's network is another one: sockets and paths of the old one may be dead without a word.
type NetworkChanged struct{}

// DeliveryTaken says that the listener took the message.
type DeliveryTaken struct{ Delivery uint64 }

// DeliveryRefused says that the listener can not take the message.
type DeliveryRefused struct {
	Delivery uint64
	Reason   string
}

// ExplanationAsked asks how a message would go now. It changes nothing.
type ExplanationAsked struct {
	Job      uint64
	From, To address.Address
	Wish     Wish
}

// Restored says that the state belongs to a former life of this runtime: what came of it in the world after it was stored is not
// known. It is the first event after Restore and the frames that were stored since.
type Restored struct {
	Wall    uint64   // ms since 1970, at the time of this Step
	Seed    uint64   // all randomness comes from it from here on
	Domains []string // as in Config: the new life's body may be made otherwise
	Direct  bool
}

// StatsAsked asks what was counted. It changes nothing.
type StatsAsked struct{ Job uint64 }

// Closing says that this runtime goes away.
type Closing struct{}

// TimePassed says only that now moved on.
type TimePassed struct{}

func (*EndpointRegistered) event()   {}
func (*EndpointUnregistered) event() {}
func (*MessagePosted) event()        {}
func (*AnswerReceived) event()       {}
func (*FrameReceived) event()        {}
func (*HandleNamed) event()          {}
func (*NoticeReceived) event()       {}
func (*JSONReceived) event()         {}
func (*StubChanged) event()          {}
func (*StubBlocked) event()          {}
func (*StubWritable) event()         {}
func (*RegistryAnswered) event()     {}
func (*RegistrationNotified) event() {}
func (*SignalReceived) event()       {}
func (*PeerListed) event()           {}
func (*NetworkChanged) event()       {}
func (*DeliveryTaken) event()        {}
func (*DeliveryRefused) event()      {}
func (*ExplanationAsked) event()     {}
func (*Restored) event()             {}
func (*StatsAsked) event()           {}
func (*Closing) event()              {}
func (*TimePassed) event()           {}

package stubs

import (
	"errors"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// MaxFrame is the longest session frame that a stub takes, in bytes: as much as a Message Node passes on unless it is told otherwise.
const MaxFrame = 64 << 10

// The errors of a stub.
var (
	// ErrNotLive says that there is no connection now.
	ErrNotLive = errors.New("stubs: not connected")
	// ErrTooBig says that a frame or message is longer than may be sent. The connection stays.
	ErrTooBig = errors.New("stubs: too big")
	// ErrFull says that far more than the high mark waits already: whoever sent did not heed Blocked.
	ErrFull = errors.New("stubs: queue is full")
)

// A Stub moves session frames to other runtimes. Its methods may be called from many goroutines and return at once.
type Stub interface {
	// Transmit sends one session frame, which is the pieces one after the other; they may be used again when it returns.
	// handle names the destination where a stub has several, else it is 0. The error is ErrNotLive, ErrTooBig or ErrFull,
	// possibly wrapped. That there is none promises nothing about delivery.
	Transmit(handle uint64, pieces ...[]byte) error

	// Close ends the stub for good. No event comes after it but those under way.
	Close()

	// Done is closed when nothing of the stub is left: no goroutine, no socket. That is some time after Close, and for a stub
	// that can not be connected again some time after it is lost.
	Done() <-chan struct{}
}

// Status is the state of a stub. The numbers are those of the machine.
type Status uint8

// The states of a stub. Failed is final.
const (
	Created Status = iota
	InProgress
	Live
	Disconnected
	Failed
)

var statusNames = [...]string{"created", "in-progress", "live", "disconnected", "failed"}

// String is the word of the machine's door for s.
func (s Status) String() string { return statusNames[s] }

// An Event is what a stub reports. Blocked and Writable come in order among themselves, from whichever goroutine moved the
// amount over its mark: the function that gets them must return at once and not call the stub. All other events come one at
// a time and in order; the function may then block, and the stub reads no further meanwhile.
type Event interface{ event() }

// Changed says that the stub went to another state.
type Changed struct {
	Status  Status
	Resumed bool   // with Live: the node still has our subscriptions
	Reason  string // a token: why
	Err     error  // the same for people, with detail; may be nil
}

// Frame is a session frame that came in. Head and Payload belong to the receiver.
type Frame struct {
	Handle  uint64 // who sent it, where a stub has several
	Head    []byte // the header, its length field included
	Payload []byte
}

// Blocked says that more than the high mark waits to be sent.
type Blocked struct{}

// Writable says that what waits fell to the low mark.
type Writable struct{}

// Named says that the node will call Runtime by Handle on this connection.
type Named struct {
	Handle  uint64
	Runtime address.Address
}

// Noticed says that the node did not pass on a frame. Head is the start of that frame.
type Noticed struct {
	Handle uint64
	Reason byte
	Head   []byte
}

// Answered is the answer to the question of a job.
type Answered struct {
	Job      uint64
	Code     uint64
	Runtime  address.Address // of a query that found something live
	Sessions bool            // that runtime speaks sessions
}

// Notified says that the Domain Registry entry of Entity changed.
type Notified struct {
	Entity address.Address
	Status string // live, disconnected
}

// Received is a JSON message that answers no question of this stub.
type Received struct{ Envelope message.Envelope }

// Opened says that the node took the open, and what it told.
type Opened struct{ ICEServers []ICEServer }

// Renewed says which ICE servers the node names from now on: it does so in its answer to a re-open, and before the credentials that
// it named run out.
type Renewed struct{ ICEServers []ICEServer }

// Complained says that the node or this stub could not read something. It is for the record.
type Complained struct{ Text string }

// ICEServer is a STUN or TURN server, as browsers spell it.
type ICEServer struct {
	URLs       []string
	Username   string
	Credential string
}

func (Changed) event()    {}
func (Frame) event()      {}
func (Blocked) event()    {}
func (Writable) event()   {}
func (Named) event()      {}
func (Noticed) event()    {}
func (Answered) event()   {}
func (Notified) event()   {}
func (Received) event()   {}
func (Opened) event()     {}
func (Renewed) event()    {}
func (Complained) event() {}

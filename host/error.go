package host

import "strings"

// Code says why something failed. The words are those of the machine's door (wasm/ABI.md), and a few of this package's own.
type Code string

// The codes of the machine.
const (
	UnknownSender      Code = "unknown-sender"
	NoListener         Code = "no-listener"
	NotFound           Code = "not-found"
	NotBound           Code = "not-bound"
	Refused            Code = "refused"
	NoMessageNode      Code = "no-message-node"
	NoSuchRuntime      Code = "no-such-runtime"
	NoAnswer           Code = "no-answer"
	Expired            Code = "expired"
	TooMany            Code = "too-many"
	TooBig             Code = "too-big"
	Closed             Code = "closed"
	SessionReset       Code = "session-reset"
	Superseded         Code = "superseded"
	UnsupportedAddress Code = "unsupported-address"
	UnsupportedPayload Code = "unsupported-payload"
)

// The codes of this package.
const (
	BadAddress Code = "bad-address" // not an address, or taken here already
	BadOption  Code = "bad-option"
	Cancelled  Code = "cancelled" // the caller's context ended
	NameTaken  Code = "name-taken"
	Broken     Code = "module" // the machine broke
	NotStored  Code = "store"  // Options.Store can not be used
)

var meanings = map[Code]string{
	UnknownSender:      "the sender's address is not registered here",
	NoListener:         "nobody listens there now",
	NotFound:           "nobody has this address",
	NotBound:           "the sender's address is not known to be this runtime's",
	Refused:            "refused",
	NoMessageNode:      "no Message Node could be reached",
	NoSuchRuntime:      "the runtime that has this address is not connected",
	NoAnswer:           "no answer came in time",
	Expired:            "it could not be delivered in time",
	TooMany:            "too many messages wait already",
	TooBig:             "the message is too big",
	Closed:             "this runtime is closed",
	SessionReset:       "the peer lost its state",
	Superseded:         "another program took over this runtime",
	UnsupportedAddress: "this kind of address can not be sent to",
	UnsupportedPayload: "such a value can not be sent there",
	NameTaken:          "the address belongs to another runtime",
	Cancelled:          "the caller gave up",
	Broken:             "the machine broke",
	NotStored:          "the store can not be used",
}

// Error is why something failed.
type Error struct {
	Code   Code
	Maybe  bool     // the message may have been delivered all the same
	To     string   // the address, where there is one
	Answer *Message // of a request that was answered with a code of 400 or above
	Err    error    // the cause, where there is one
}

// Error says what failed, why, and whether the message may have arrived.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("host: ")
	if e.To != "" {
		b.WriteString(e.To + ": ")
	}
	b.WriteString(string(e.Code))
	if meaning := meanings[e.Code]; meaning != "" {
		b.WriteString(": " + meaning)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.Maybe {
		b.WriteString(" (it may have been delivered)")
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches another *Error of the same code, so that errors.Is(err, &Error{Code: NotFound}) works.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code && other.To == "" && other.Err == nil
}

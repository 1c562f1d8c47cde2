// Package engine is what a Message Node keeps and passes on, behind one small interface: who wants messages to which
// address, and the entries of the Domain Registry. Memory is the one for a node that stands alone; enginetest proves any other.
package engine

import (
	"errors"
	"time"

	"github.com/hyroute/hyroute/runtime/address"
)

// An Engine is a Bus and a Store. Its methods are safe for concurrent use.
type Engine interface {
	Bus
	Store
}

// A Receiver takes the messages to the addresses that it subscribed. It is compared with ==.
type Receiver interface {
	// Receive takes one message, or says that it can not. It neither blocks nor keeps message, nor calls the engine.
	Receive(message []byte) bool
}

// A Bus passes messages to those who subscribed exactly their address.
type Bus interface {
	// Subscribe adds r to the receivers of an address. A second time changes nothing.
	Subscribe(to address.Address, r Receiver) error
	// Unsubscribe takes r away again. It is no error if r is not there.
	Unsubscribe(to address.Address, r Receiver) error
	// Publish hands message to all receivers of an address, and says how many took it. Messages that one goroutine
	// publishes to one address reach each receiver in that order.
	Publish(to address.Address, message []byte) (taken int, err error)
}

// A Store holds the entries of the Domain Registry, one for each URL.
type Store interface {
	// Read gives the entry of a URL, or ErrNotFound.
	Read(url address.Address) (Entry, error)
	// Change replaces the entry of a URL by what change makes of it; nil stands for no entry. Nobody else changes that entry
	// in between, for which change may run more than once. An error of change leaves all as it was, and comes back as it is.
	Change(url address.Address, change func(current *Entry) (*Entry, error)) error
	// Find gives the entries of a user or of a runtime, ordered by URL.
	Find(by Query) ([]Entry, error)
}

// Query says which entries are wanted. Exactly one field is set.
type Query struct {
	User    string
	Runtime address.Address
}

// An Entry says where a Hyperty or a data object lives. It is a value: nobody changes what it points to.
type Entry struct {
	URL      address.Address
	Runtime  address.Address // who hosts it, and owns the entry
	User     string
	Live     bool
	Absent   bool          // not live only because its runtime was away
	Sessions bool          // its runtime speaks sessions
	Expires  time.Duration // after Modified it is live no more
	Created  time.Time
	Modified time.Time
	Extra    []byte // a JSON object: what its owner says besides
}

// Ends is when e is live no more unless it is refreshed.
func (e *Entry) Ends() time.Time { return e.Modified.Add(e.Expires) }

var (
	// ErrNotFound says that there is no such entry.
	ErrNotFound = errors.New("engine: no such entry")
	// ErrFull says that there is no room for another entry.
	ErrFull = errors.New("engine: no room for another entry")
)

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/hyroute/hyroute/node/engine"
	"github.com/hyroute/hyroute/runtime/address"
)

// Config says what a Node is. Only Domain must be set.
type Config struct {
	Domain        string      // whose Message Node and Domain Registry this is, as it stands in addresses: "example.org", "localhost:8080"
	ICEServers    []ICEServer // for peer connections; given to every runtime that opens, and in the catalogue
	Issuer        Issuer      // one more ICE server, whose credentials are good for a time; nil: none
	Web           fs.FS       // the page and its files; nil: no page
	Policy        string      // Content-Security-Policy of the page; empty: DefaultPolicy
	URL           string      // "wss://example.org/ws", where others find this node; empty: as each request found it
	AllowUnsigned bool        // take the predecessor's unsigned open as well
	// Origins are patterns of the hosts whose pages may connect, such as "*.example.org". Empty: all. That is no
	// weakness: a runtime proves itself by its key, and the node takes no cookies that a foreign page could ride on.
	Origins []string
	Logger  *slog.Logger  // nil: none. Payloads are never logged
	Engine  engine.Engine // nil: an engine.Memory
	Clock   Clock         // nil: the system's
	Limits  Limits
}

// Limits bound what one client can cost. A field that is zero has its default.
type Limits struct {
	Clients       int           // sockets at once; 16384
	Message       int           // bytes of a JSON message; 1 MiB
	Frame         int           // bytes of a session frame; 64 KiB
	FrameQueue    int           // bytes that wait for a client, above which frames to it are refused; 1 MiB
	Queue         int           // bytes that wait for a client, above which it is closed as too slow; 4 MiB
	Errors        int           // envelopes that can not be read, until the socket is closed; 16
	Subscriptions int           // addresses that a runtime subscribed; 4096
	Allocations   int           // addresses allocated for a runtime; 1024
	Entries       int           // registry entries of a runtime; 1024
	AllEntries    int           // registry entries in an engine.Memory; 131072
	EntrySize     int           // bytes of the value of a registry entry; 4096
	OpenLimit     time.Duration // a client is to open a runtime within; 30 s
	PingEvery     time.Duration // a silent client is pinged; 10 s
	PingLimit     time.Duration // and is to answer, or take what is written to it, within; 10 s
	CloseLimit    time.Duration // a client is to answer a close within; 2 s
	AbsentAfter   time.Duration // entries of a runtime that is away become disconnected; 10 s
	ForgetAfter   time.Duration // re-open of a runtime that is away is possible for; 60 s
	KeepEntry     time.Duration // an entry that is disconnected is kept for; 24 h
}

// OfflineAfter has a runtime that fell silent without a word called disconnected within d: it may be silent for a quarter of
// that until the node begins to wonder, and for another until it is pinged; then it may think about the answer; and then it may
// come back by another socket.
func (l *Limits) OfflineAfter(d time.Duration) {
	l.PingEvery, l.PingLimit, l.AbsentAfter = d/4, d/4, d/4
}

func (l *Limits) fill() error {
	for _, f := range []struct {
		field   *int
		value   int
		atLeast int
	}{
		{&l.Clients, 16384, 1},
		{&l.Message, 1 << 20, 1024},
		{&l.Frame, 64 << 10, 1024},
		{&l.FrameQueue, 1 << 20, 1024},
		{&l.Queue, 4 << 20, 1024},
		{&l.Errors, 16, 1},
		{&l.Subscriptions, 4096, 1},
		{&l.Allocations, 1024, 1},
		{&l.Entries, 1024, 1},
		{&l.AllEntries, 1 << 17, 1},
		{&l.EntrySize, 4096, 1},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
		if *f.field < f.atLeast {
			return fmt.Errorf("node: a limit is %d, below %d", *f.field, f.atLeast)
		}
	}
	for _, f := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.OpenLimit, 30 * time.Second},
		{&l.PingEvery, 10 * time.Second},
		{&l.PingLimit, 10 * time.Second},
		{&l.CloseLimit, 2 * time.Second},
		{&l.AbsentAfter, 10 * time.Second},
		{&l.ForgetAfter, 60 * time.Second},
		{&l.KeepEntry, 24 * time.Hour},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
		if *f.field < 0 {
			return fmt.Errorf("node: a limit is %v", *f.field)
		}
	}
	return nil
}

func (c *Config) fill() error {
	c.Domain = strings.ToLower(c.Domain)
	entity, err := address.Parse("hyperty://" + c.Domain + "/x")
	if err != nil || entity.Domain() != c.Domain || entity.Path() != "/x" || entity.Class() != address.Entity {
		return errors.Join(fmt.Errorf("node: %q can not be a domain", c.Domain), err)
	}
	if err := c.Limits.fill(); err != nil {
		return err
	}
	for _, origin := range c.Origins {
		if _, err := path.Match(origin, ""); err != nil || origin == "" {
			return fmt.Errorf("node: %q is no pattern of an origin", origin)
		}
	}
	if c.Policy == "" {
		c.Policy = DefaultPolicy
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Engine == nil {
		c.Engine = engine.NewMemory(c.Limits.AllEntries)
	}
	return nil
}

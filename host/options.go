package host

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/pion/transport/v5"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/stubs"
)

// ICEServer is a STUN or TURN server, as browsers spell it.
type ICEServer = stubs.ICEServer

// Options say how a runtime is made. The zero value is ready.
type Options struct {
	// Name is the last part of the runtime's own address, hyperty://<domain>/<name>, or a whole address. Empty: the runtime's id.
	Name string
	// Listener takes what comes to the own address. nil: it waits for Receive, Messages or Listen.
	Listener Listener
	// Key makes the runtime the one it is. nil: a new one, so that the address is another each time.
	Key *identity.Key
	// Domain is that of the node. It is needed where it is neither the host of the URL nor a parent of it; a node of another
	// domain is refused.
	Domain string
	// Nodes are WebSocket URLs of further domains' nodes that may be used, by domain.
	Nodes map[string]string
	// NoDirect keeps to Message Nodes: no peer connections.
	NoDirect bool
	// ICEServers help to set up peer connections, instead of those that the node names. Not nil but empty: none.
	ICEServers []ICEServer
	// RelayOnly keeps peer connections to TURN servers: peers do not learn this machine's addresses.
	RelayOnly bool
	// Loopback makes peer connections within this machine only. It is for tests and for demonstrations without a network.
	Loopback bool
	// Module is hyroute.wasm, to run the machine under wazero. nil: the machine that is linked into this program.
	Module []byte
	// ModuleCache is a folder that keeps the compiled module for the next time. Empty: not kept.
	ModuleCache string
	// Trace gets all that the machine is told and answers, as a scenario: it can be played again.
	Trace io.Writer
	// Store is a folder in which this runtime keeps its key, its messages that wait, and where each session stands, so that its
	// next life goes on where this one ended, however it ended: see Restored, and README.md. One runtime at a time
	// has a store. Empty: a runtime that ends is forgotten.
	//
	// With a store a message counts as delivered when its listener returned: what was being handled when the process died comes again,
	// and nothing else does. What Receive gave counts when Receive is called again, or Close.
	Store string
	// SyncStore makes each step wait for the disk, so that a loss of power does no more harm than the death of the process.
	SyncStore bool
	// Dial opens TCP connections to nodes, as that of net.Dialer. nil: the system's.
	Dial stubs.DialFunc
	// PeerNet makes the sockets of peer connections. nil: the system's.
	PeerNet transport.Net
	// Clock tells the time. nil: time.Now.
	Clock func() time.Time

	// open makes the machine, where a test has one of its own.
	open func(engine.Config) (machine.Machine, []engine.Effect, error)
}

func (o *Options) machine(c engine.Config) (machine.Machine, []engine.Effect, error) {
	switch {
	case o.open != nil:
		return o.open(c)
	case o.Module != nil:
		return machine.Module(o.Module, c, machine.Options{CacheDir: o.ModuleCache})
	}
	return machine.Linked(c)
}

// readURL makes a WebSocket URL of what a person writes: http means ws, and a node is at /ws if nothing else is said.
func readURL(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "ws://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, badOption("the URL of a node: %v", err)
	}
	switch u.Scheme {
	case "http", "https":
		u.Scheme = strings.Replace(u.Scheme, "http", "ws", 1)
	case "ws", "wss":
	default:
		return nil, badOption("%q: a Message Node is at ws:// or wss://", text)
	}
	if u.Host == "" {
		return nil, badOption("%q: no host", text)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/ws"
	}
	u.Fragment = ""
	return u, nil
}

// belongs says whether a node at u can be believed to be of domain. A node is handed a proof that opens this runtime at its
// domain; one that claims to be of another domain could pass the proof on there.
func belongs(domain string, u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return domain == strings.ToLower(u.Host) || domain == host || strings.HasSuffix(host, "."+domain) ||
		host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil
}

// checkDomain says what is wrong with a node at u that says it is of domain.
func (o *Options) checkDomain(domain string, u *url.URL) error {
	if o.Domain == "" && !belongs(domain, u) {
		return badOption("the node at %s says that it is of %q: if that is right, give this domain as an option", u, domain)
	}
	if o.Domain != "" && domain != o.Domain {
		return badOption("the node at %s is of %q, not of %q", u, domain, o.Domain)
	}
	return nil
}

// readAddress takes a name, which stands for hyperty://<domain>/<name>, or a whole address.
func readAddress(text, domain string) (address.Address, error) {
	if !strings.Contains(text, "://") {
		text = "hyperty://" + domain + "/" + text
	}
	a, err := address.Parse(text)
	if err != nil {
		return a, &Error{Code: BadAddress, Err: err}
	}
	return a, nil
}

func badOption(format string, arguments ...any) error {
	return &Error{Code: BadOption, Err: fmt.Errorf(format, arguments...)}
}

// cause says more of why a message to an address was refused, where there is more to say.
func (r *Runtime) cause(code Code, to address.Address) error {
	domain := to.Domain()
	if code != Refused || domain == "" || domain == r.domain || r.options.Nodes[domain] != "" {
		return nil
	}
	return fmt.Errorf("the address is of the domain %q, and this runtime may use the node of %q only", domain, r.domain)
}

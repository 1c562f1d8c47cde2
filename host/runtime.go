package host

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/p2p"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
)

var errTakenHere = errors.New("this program listens there already")

func codeError(code uint64) error { return fmt.Errorf("the Domain Registry answered %d", code) }

func milli(i engine.Instant) time.Duration { return time.Duration(i) * time.Millisecond }

// Runtime is an address of its own, and the way to all others. Its methods may be called from many goroutines.
type Runtime struct {
	options  Options
	node     *url.URL
	domain   string
	url      address.Address
	own      *Endpoint
	inbox    *inbox
	watchers watchers
	routes   routes
	lastID   atomic.Uint64
	lastRead atomic.Pointer[address.Address]
	closing  atomic.Bool
	done     chan struct{}
	loop     *loop
	restored []*Restored
}

// Connect makes a runtime that is reached through the Message Node at nodeURL. It returns when the node said who it is; or, if
// it can not be reached, with the domain of the options or else the host name of the URL, and goes on trying.
//
// With Options.Store it goes on where the former life of this runtime ended; a store that can not be used is a NotStored.
//
// The error is an *Error, or that of ctx. A server that is no such node is an error, and so is a node of another domain.
func Connect(ctx context.Context, nodeURL string, o Options) (*Runtime, error) {
	u, err := readURL(nodeURL)
	if err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	kept, before, err := o.openStore()
	if err != nil {
		return nil, err
	}
	if o.Key == nil {
		if o.Key, err = identity.New(); err != nil {
			return nil, err
		}
	}
	socket, domain, away, err := findDomain(ctx, u, &o)
	if err != nil {
		kept.end()
		return nil, err
	}
	r := &Runtime{options: o, node: u, domain: domain, inbox: newInbox(), done: make(chan struct{})}
	r.watchers.first = r.watchers.add()
	if away != nil {
		r.watchers.tell(NodeChanged{Domain: domain, Status: stubs.Disconnected.String(), Reason: "unreachable", Err: away})
	}
	if err := r.begin(socket, kept, before); err != nil {
		kept.end()
		if socket != nil {
			socket.Close()
		}
		return nil, err
	}
	if _, err := r.register(); err != nil {
		r.Close()
		return nil, err
	}
	if o.Listener != nil {
		r.own.Listen(o.Listener)
	}
	return r, nil
}

// findDomain asks the node for its domain. Without an answer it is guessed; the socket is then nil, and away says why.
func findDomain(ctx context.Context, u *url.URL, o *Options) (socket *stubs.Socket, domain string, away, err error) {
	socket, err = stubs.Dial(ctx, u.String(), o.Dial)
	switch {
	case err == nil:
		if err := o.checkDomain(socket.Domain(), u); err != nil {
			socket.Close()
			return nil, "", nil, err
		}
		return socket, socket.Domain(), nil, nil
	case ctx.Err() != nil:
		return nil, "", nil, contextError(ctx)
	case errors.Is(err, stubs.ErrUnsupportedNode):
		return nil, "", nil, &Error{Code: NoMessageNode, Err: err}
	case o.Domain != "":
		return nil, o.Domain, err, nil
	}
	return nil, strings.ToLower(u.Hostname()), err, nil
}

// begin makes the machine, and starts the loop.
func (r *Runtime) begin(socket *stubs.Socket, kept *keeper, before *former) error {
	var err error
	if r.url, err = r.options.Key.RuntimeURL(r.domain); err != nil {
		return &Error{Code: BadAddress, Err: err}
	}
	name := r.options.Name
	if name == "" {
		name = r.url.ID()
	}
	own, err := readAddress(name, r.domain)
	if err != nil {
		return err
	}
	r.own = newEndpoint(r, own)
	peers, err := p2p.New(p2p.Options{
		Runtime: r.url, Key: r.options.Key, Send: r.sendSignal, Loopback: r.options.Loopback, RelayOnly: r.options.RelayOnly, Net: r.options.PeerNet,
	})
	if err != nil {
		return err
	}
	peers.SetICEServers(r.options.ICEServers)
	r.loop = &loop{
		runtime: r, keeper: kept, outbox: newOutbox(r),
		endpoints: map[address.Address]*Endpoint{}, plain: map[uint64]plainIn{}, claims: map[uint64]*Endpoint{},
		explanations: map[uint64]chan Explanation{}, counts: map[uint64]*counting{}, nodes: map[uint64]*nodeStub{}, peers: map[uint64]*peerStub{}, p2p: peers, first: socket,
	}
	r.loop.alarm.timer = time.AfterFunc(time.Hour, func() { r.inbox.put(rang{}) })
	r.loop.alarm.timer.Stop()
	// Those who wait for something else should not wait for a disk, nor hold a lock that a trace needs.
	r.inbox.alone = kept != nil || r.options.Trace != nil
	effects, err := r.loop.awake(before)
	if err != nil {
		return err
	}
	go func() {
		defer close(r.done)
		r.loop.run(effects)
		r.closing.Store(true)
		r.loop.shut()
		formerLives.end(r.url, wallOf(r.options.Clock()))
	}()
	return nil
}

// awake makes the machine: that of the former life, or a new one with the effects of its start.
func (l *loop) awake(before *former) ([]engine.Effect, error) {
	var seed [8]byte
	rand.Read(seed[:]) // never fails
	o := &l.runtime.options
	now := o.Clock()
	config := engine.Config{
		Runtime: l.runtime.url, Wall: formerLives.begin(l.runtime.url, wallOf(now)), Seed: binary.BigEndian.Uint64(seed[:]),
		Domains: slices.Sorted(maps.Keys(o.Nodes)), Direct: !o.NoDirect,
	}
	if before != nil {
		// The machine's clock goes on: it stood still for as long as the wall clock says, or not at all.
		at := before.numbers.now + max(config.Wall, before.numbers.wall) - before.numbers.wall
		l.start = now.Add(-milli(engine.Instant(max(at, 1) - 1)))
		l.trace = newTrace(o.Trace, nil, nil)
		l.tell(&engine.Restored{Wall: config.Wall, Seed: config.Seed, Domains: config.Domains, Direct: config.Direct})
		err := l.restore(before)
		if err != nil && l.machine != nil {
			l.machine.Close()
		}
		return nil, err
	}
	m, effects, err := o.machine(config)
	if err != nil {
		return nil, fmt.Errorf("host: make the machine: %w", err)
	}
	l.machine, l.start, l.trace = m, now, newTrace(o.Trace, &config, effects)
	if l.keeper != nil {
		if err := l.keepState(); err != nil {
			return nil, errors.Join(&Error{Code: NotStored, Err: err}, m.Close())
		}
	}
	return effects, nil
}

// register makes the own endpoint known to the loop.
func (r *Runtime) register() (*Endpoint, error) {
	result := make(chan error, 1)
	r.inbox.put(registerInput{r.own, result})
	select {
	case err := <-result:
		return r.own, err
	case <-r.done:
		return nil, &Error{Code: Broken}
	}
}

// Address is where others reach this runtime.
func (r *Runtime) Address() string { return r.own.Address() }

// URL is the runtime's own URL: its domain, and the fingerprint of its key.
func (r *Runtime) URL() string { return r.url.String() }

// Domain is that of the node.
func (r *Runtime) Domain() string { return r.domain }

// Close goes away: it waits up to a second for messages on their way, rejects the others as Closed, tells peers and nodes,
// and returns when nothing is left but listeners that are at work.
func (r *Runtime) Close() error {
	r.closing.Store(true)
	r.inbox.put(closeInput{})
	<-r.done
	return nil
}

// Done is closed when the runtime is closed, or its machine broke.
func (r *Runtime) Done() <-chan struct{} { return r.done }

func (r *Runtime) newID() uint64 { return r.lastID.Add(1) }

// nodeURL is where the node of a domain is.
func (r *Runtime) nodeURL(domain string) string {
	if domain == r.domain {
		return r.node.String()
	}
	if u := r.options.Nodes[domain]; u != "" {
		return u
	}
	return r.node.Scheme + "://" + domain + "/ws"
}

// sendSignal takes a signal to the node of the peer's domain, where there is one, else to the own one.
func (r *Runtime) sendSignal(peer address.Address, e message.Envelope) error {
	n := r.routes.get(peer.Domain(), r.domain)
	if n == nil {
		return &Error{Code: NoMessageNode}
	}
	return n.Send(e)
}

// routes are the nodes by domain, for those who must not wait for the loop.
type routes struct {
	mu    sync.Mutex
	nodes map[string]*stubs.Node
}

func (r *routes) set(domain string, n *stubs.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nodes == nil {
		r.nodes = map[string]*stubs.Node{}
	}
	r.nodes[domain] = n
}

func (r *routes) remove(domain string, n *stubs.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nodes[domain] == n {
		delete(r.nodes, domain)
	}
}

func (r *routes) get(domain, otherwise string) *stubs.Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.nodes[domain]; n != nil {
		return n
	}
	return r.nodes[otherwise]
}

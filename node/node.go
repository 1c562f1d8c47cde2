package node

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hyroute/hyroute/runtime/address"
)

// A Node is a Message Node, as an http.Handler: /ws for runtimes, /.well-known/protocolstub/ for the catalogue, the page
// everywhere else. Its methods are safe for concurrent use.
type Node struct {
	config   Config
	registry address.Address // domain://registry.<domain>
	web      *web
	expiry   expiry
	messages atomic.Uint64 // ids of the messages that the node itself begins

	group sync.WaitGroup // sockets, and what a timer began

	mu          sync.Mutex
	closed      bool
	clients     map[*client]struct{}
	seats       map[address.Address]*seat
	allocations map[address.Address]*session
}

// New makes a Node. It fails if the configuration makes no sense.
func New(c Config) (*Node, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	n := &Node{
		config:      c,
		registry:    address.MustParse("domain://registry." + c.Domain),
		web:         newWeb(c.Web, c.Policy),
		clients:     map[*client]struct{}{},
		seats:       map[address.Address]*seat{},
		allocations: map[address.Address]*session{},
	}
	n.expiry.node, n.expiry.watched = n, map[address.Address]*deadline{}
	return n, nil
}

// ServeHTTP implements http.Handler.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/ws":
		n.serveSocket(w, r)
	case inCatalogue(r.URL.Path):
		n.serveCatalogue(w, r)
	default:
		n.web.ServeHTTP(w, r)
	}
}

// Close closes all sockets with code 1001, ends all timers, and returns when everything that the node began has ended.
// Sockets that come later get 503. A second Close does nothing.
func (n *Node) Close() {
	n.mu.Lock()
	first := !n.closed
	n.closed = true
	var clients []*client
	for c := range n.clients {
		clients = append(clients, c)
	}
	var sessions []*session
	for _, s := range n.seats {
		if s.session != nil {
			sessions = append(sessions, s.session)
		}
	}
	n.mu.Unlock()
	if first {
		for _, c := range clients {
			c.finish(closeGoingAway, "the node goes away")
		}
		for _, s := range sessions {
			s.end()
		}
		n.expiry.stop()
	}
	n.group.Wait()
}

// enter says whether the node is open, and then keeps Close waiting until n.group.Done.
func (n *Node) enter() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.group.Add(1)
	return true
}

// after calls f after d, unless the node is closed or stop is called before.
func (n *Node) after(d time.Duration, f func()) (stop func() bool) {
	return n.config.Clock.AfterFunc(d, func() {
		if !n.enter() {
			return
		}
		defer n.group.Done()
		f()
	})
}

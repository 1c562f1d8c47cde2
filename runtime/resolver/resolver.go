package resolver

import "github.com/hyroute/hyroute/runtime/address"

// Resolver knows what a decision needs. It does nothing by itself.
type Resolver struct {
	self    address.Address
	numbers Numbers
	now     uint64
	direct  bool            // peer connections are possible here
	domains map[string]bool // whose nodes may be used
	local   map[address.Address]bool
	entries map[address.Address]*Entry
	uses    uint64
	nodes   map[string]uint64
	peers   map[address.Address]PeerStub
	last    decision
	heard   address.Address // somebody listens there, as was asked last
}

// PeerStub is what is known of the peer connection to a runtime.
type PeerStub struct {
	Stub uint64
	Live bool // validated: traffic may use it
}

// New makes the resolver of runtime self, which may use the nodes of its own domain and of domains.
func New(self address.Address, domains []string, direct bool, numbers Numbers) *Resolver {
	r := &Resolver{
		self: self, numbers: numbers, direct: direct,
		domains: map[string]bool{self.Domain(): true},
		local:   map[address.Address]bool{},
		entries: map[address.Address]*Entry{},
		nodes:   map[string]uint64{},
		peers:   map[address.Address]PeerStub{},
	}
	for _, d := range domains {
		r.domains[d] = true
	}
	return r
}

// Advance moves the time on.
func (r *Resolver) Advance(now uint64) { r.now = max(r.now, now) }

// Self is the own runtime URL.
func (r *Resolver) Self() address.Address { return r.self }

// Listen and Unlisten note who listens in this runtime.
func (r *Resolver) Listen(a address.Address) {
	r.last = decision{}
	r.local[a] = true
}

// Unlisten takes Listen back.
func (r *Resolver) Unlisten(a address.Address) {
	r.last, r.heard = decision{}, address.Address{}
	delete(r.local, a)
}

// Listens says whether somebody in this runtime listens at exactly a.
func (r *Resolver) Listens(a address.Address) bool {
	if a == r.heard {
		return !a.IsZero()
	}
	if !r.local[a] {
		return false
	}
	r.heard = a
	return true
}

// MayUse says whether the Message Node of that domain may be used.
func (r *Resolver) MayUse(domain string) bool { return r.domains[domain] }

// SetNode notes which stub stands for the node of a domain.
func (r *Resolver) SetNode(domain string, stub uint64) { r.nodes[domain] = stub }

// Node is the stub of a domain's node. 0: none is deployed.
func (r *Resolver) Node(domain string) uint64 { return r.nodes[domain] }

// SetPeer notes the peer connection to a runtime; the zero PeerStub: there is none.
func (r *Resolver) SetPeer(runtime address.Address, p PeerStub) {
	r.last = decision{}
	if p == (PeerStub{}) {
		delete(r.peers, runtime)
		return
	}
	r.peers[runtime] = p
}

package turn

import (
	"net"
	"net/netip"
	"sync"
)

// quota counts allocations, by user and by network: keys cost nothing, addresses do.
type quota struct {
	limits Limits

	mu       sync.Mutex
	users    map[string]int
	networks map[netip.Prefix]int
}

func newQuota(l Limits) *quota {
	return &quota{limits: l, users: map[string]int{}, networks: map[netip.Prefix]int{}}
}

// mayAllocate is a turn.QuotaHandler.
func (q *quota) mayAllocate(user, _ string, from net.Addr) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.users[user] < q.limits.PerUser && q.networks[network(from)] < q.limits.PerAddress
}

func (q *quota) created(from, _ net.Addr, _, user, _ string, _ net.Addr, _ int) {
	q.count(user, from, 1)
}

func (q *quota) deleted(from, _ net.Addr, _, user, _ string) { q.count(user, from, -1) }

func (q *quota) count(user string, from net.Addr, by int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	add(q.users, user, by)
	add(q.networks, network(from), by)
}

func add[K comparable](counts map[K]int, key K, by int) {
	if counts[key] += by; counts[key] <= 0 {
		delete(counts, key)
	}
}

// network is what one client is likely to have: an IPv4 address, or an IPv6 /64.
func network(a net.Addr) netip.Prefix {
	u, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := u.AddrPort().Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits) // bits fit the address
	return p
}

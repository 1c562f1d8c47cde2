package turn

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// reserved are the networks that the IANA registries of special-purpose addresses (RFC 6890) call not globally reachable, or
// that stand for IPv4 addresses, and which netip has no word for. What is behind them is not for strangers: other machines
// of the owner, the metadata service of a cloud.
var reserved = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(list ...string) (all []netip.Prefix) {
	for _, text := range list {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// isPrivate says whether an address is one that the whole internet does not reach.
func isPrivate(ip netip.Addr) bool {
	return !ip.IsGlobalUnicast() || ip.IsPrivate() || slices.ContainsFunc(reserved, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// destinations is where packets may be sent.
type destinations struct {
	own     map[netip.Addr]bool // addresses of this machine
	ports   PortRange           // the ports there that are relayed addresses
	private bool
}

// permit is a turn.PermissionHandler: it is asked for each peer, of which it knows only the IP address.
func (d *destinations) permit(_ net.Addr, peer net.IP) bool {
	ip, ok := netip.AddrFromSlice(peer)
	return ok && d.address(ip.Unmap())
}

func (d *destinations) address(ip netip.Addr) bool {
	one := ip.IsGlobalUnicast() || ip.IsLoopback() || ip.IsLinkLocalUnicast() // neither many nor none
	return d.own[ip] || d.private && one || !isPrivate(ip)
}

// packet says whether a packet may go to an address and port. At this machine only relayed addresses may be reached (two
// runtimes that both use this server meet there): what else listens here may be kept from the outside by a firewall, and
// the server is inside.
func (d *destinations) packet(to netip.AddrPort) bool {
	ip := to.Addr().Unmap()
	if d.own[ip] && !d.private {
		return to.Port() >= d.ports.First && to.Port() <= d.ports.Last
	}
	return d.address(ip)
}

// ErrNoAddress is what Start says on a machine that nobody can reach, as far as it can see itself.
var ErrNoAddress = errors.New("turn: this machine has no address that clients reach")

// PublicIP is the address at which clients may reach this machine: one of the whole internet if it has one, else one of
// its private network. It fails if there is neither.
func PublicIP() (netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, fmt.Errorf("turn: list this machine's addresses: %w", err)
	}
	var best netip.Addr
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		ip := prefix.Addr().Unmap()
		if err != nil || !ip.IsGlobalUnicast() {
			continue
		}
		if better := best.IsValid() && (isPrivate(ip) && !isPrivate(best) || isPrivate(ip) == isPrivate(best) && (ip.Is6() || best.Is4())); !better {
			best = ip
		}
	}
	if !best.IsValid() {
		return best, ErrNoAddress
	}
	return best, nil
}

// ownAddresses are those of this machine, and the one that clients are told.
func ownAddresses(ip netip.Addr) map[netip.Addr]bool {
	own := map[netip.Addr]bool{ip: true}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return own
	}
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && !isPrivate(prefix.Addr().Unmap()) {
			own[prefix.Addr().Unmap()] = true
		}
	}
	return own
}

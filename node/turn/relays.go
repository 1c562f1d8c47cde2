package turn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"

	"github.com/pion/turn/v5"
)

// attempts is how many ports are tried for one allocation.
const attempts = 256

// relays makes the sockets behind relayed addresses. It is a turn.RelayAddressGenerator.
type relays struct {
	ip    netip.Addr // as clients are told
	bind  netip.Addr
	ports PortRange
	may   *destinations
}

// Validate has nothing to find fault with: Start looked.
func (r *relays) Validate() error { return nil }

// AllocatePacketConn opens a socket in the range of ports.
func (r *relays) AllocatePacketConn(c turn.AllocateListenerConfig) (net.PacketConn, net.Addr, error) {
	if (c.Network == "udp4") != r.ip.Is4() {
		return nil, nil, fmt.Errorf("turn: no %s relay at %s", c.Network, r.ip)
	}
	if c.RequestedPort != 0 { // the upper one of a pair
		if c.RequestedPort < int(r.ports.First) || c.RequestedPort > int(r.ports.Last) {
			return nil, nil, fmt.Errorf("turn: port %d is outside of %d-%d", c.RequestedPort, r.ports.First, r.ports.Last)
		}
		return r.open(c.Network, uint16(c.RequestedPort))
	}
	size := int(r.ports.Last) - int(r.ports.First) + 1
	begin := rand.IntN(size)
	var err error
	for try := range min(size, attempts) {
		port := r.ports.First + uint16((begin+try)%size)
		socket, at, failed := r.open(c.Network, port)
		if failed == nil {
			return socket, at, nil
		}
		err = failed
	}
	return nil, nil, fmt.Errorf("turn: no free port in %d-%d: %w", r.ports.First, r.ports.Last, err)
}

func (r *relays) open(network string, port uint16) (net.PacketConn, net.Addr, error) {
	socket, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(netip.AddrPortFrom(r.local(), port)))
	if err != nil {
		return nil, nil, err
	}
	return &relay{socket, r.may}, net.UDPAddrFromAddrPort(netip.AddrPortFrom(r.ip, port)), nil
}

// local is where sockets listen: where the server does, in the family of the relayed address.
func (r *relays) local() netip.Addr {
	switch bind := r.bind.Unmap(); {
	case bind.Is4() == r.ip.Is4():
		return bind
	case r.ip.Is4():
		return netip.IPv4Unspecified()
	default:
		return netip.IPv6Unspecified()
	}
}

var errOnlyUDP = errors.New("turn: only UDP is relayed")

// AllocateListener refuses TCP allocations (RFC 6062): a data channel needs none, and they would open connections to anywhere.
func (r *relays) AllocateListener(turn.AllocateListenerConfig) (net.Listener, net.Addr, error) {
	return nil, nil, errOnlyUDP
}

// AllocateConn refuses as AllocateListener does.
func (r *relays) AllocateConn(turn.AllocateConnConfig) (net.Conn, error) { return nil, errOnlyUDP }

// relay is the socket of a relayed address.
type relay struct {
	*net.UDPConn
	may *destinations
}

// WriteTo sends a packet, unless it may not go there: then it is lost, as packets are.
func (r *relay) WriteTo(packet []byte, to net.Addr) (int, error) {
	if u, ok := to.(*net.UDPAddr); !ok || !r.may.packet(u.AddrPort()) {
		return len(packet), nil
	}
	return r.UDPConn.WriteTo(packet, to)
}

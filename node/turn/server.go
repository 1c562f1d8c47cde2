// Package turn is the TURN server of a Message Node (RFC 8656): it carries the packets of runtimes that cannot reach each
// other, for who has credentials of the node, over UDP, and to nowhere that the outside could not reach.
package turn

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"

	"github.com/hyroute/hyroute/node"
)

// Config says what a Server is. Only Realm must be set.
type Config struct {
	Realm   string     // the node's domain
	Listen  string     // UDP address; empty: :3478
	IP      netip.Addr // at which clients reach this machine; invalid: found by PublicIP
	Ports   PortRange  // of the addresses that it gives away; zero: 49152-65535
	Private bool       // relay to private and loopback addresses too: for tests, and networks of one owner
	Limits  Limits
	Logger  *slog.Logger // nil: none
}

// PortRange is a range of ports, both ends in it.
type PortRange struct{ First, Last uint16 }

// Limits bound what clients can cost. A field that is zero has its default.
type Limits struct {
	Lifetime   time.Duration // of credentials; 24 h
	PerUser    int           // allocations of one runtime, which makes one or two for each peer connection; 128
	PerAddress int           // allocations of one IPv4 address or one IPv6 /64; 512
}

// Server is a running TURN server. Its methods are safe for concurrent use.
type Server struct {
	server  *turn.Server
	secret  secret
	urls    []string
	ip      netip.Addr
	private bool // the address is of a private network
	limits  Limits
	quota   *quota
}

// Start starts a server. It fails if the address is taken, or no client could reach this machine.
func Start(c Config) (*Server, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	socket, err := net.ListenPacket("udp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("turn: listen at %s: %w", c.Listen, err)
	}
	at := socket.LocalAddr().(*net.UDPAddr).AddrPort()
	if !c.IP.IsValid() && !at.Addr().IsUnspecified() {
		c.IP = at.Addr().Unmap()
	} else if !c.IP.IsValid() {
		if c.IP, err = PublicIP(); err != nil {
			return nil, errors.Join(err, socket.Close())
		}
	}
	s := &Server{
		secret:  newSecret(c.Realm),
		ip:      c.IP,
		private: isPrivate(c.IP),
		urls:    []string{"turn:" + netip.AddrPortFrom(c.IP, at.Port()).String() + "?transport=udp"},
		limits:  c.Limits,
		quota:   newQuota(c.Limits),
	}
	may := &destinations{own: ownAddresses(c.IP), ports: c.Ports, private: c.Private}
	s.server, err = turn.NewServer(turn.ServerConfig{
		Realm:        c.Realm,
		AuthHandler:  s.secret.authenticate,
		QuotaHandler: s.quota.mayAllocate,
		EventHandler: turn.EventHandler{OnAllocationCreated: s.quota.created, OnAllocationDeleted: s.quota.deleted},
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn:            socket,
			RelayAddressGenerator: &relays{ip: c.IP, bind: at.Addr(), ports: c.Ports, may: may},
			PermissionHandler:     may.permit,
		}},
		LoggerFactory: &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("turn: %w", err), socket.Close())
	}
	return s, nil
}

func (c *Config) fill() error {
	if c.Listen == "" {
		c.Listen = ":3478"
	}
	if c.Ports == (PortRange{}) {
		c.Ports = PortRange{49152, 65535}
	}
	if c.Ports.First == 0 || c.Ports.Last < c.Ports.First {
		return fmt.Errorf("turn: %d-%d is no range of ports", c.Ports.First, c.Ports.Last)
	}
	if c.Realm == "" {
		return errors.New("turn: the realm is empty")
	}
	if c.IP.IsValid() && (c.IP.IsUnspecified() || c.IP.IsMulticast()) {
		return fmt.Errorf("turn: no client reaches a machine at %s", c.IP)
	}
	if c.Limits.Lifetime == 0 {
		c.Limits.Lifetime = 24 * time.Hour
	}
	if c.Limits.PerUser == 0 {
		c.Limits.PerUser = 128
	}
	if c.Limits.PerAddress == 0 {
		c.Limits.PerAddress = 512
	}
	if c.Limits.Lifetime < 0 || c.Limits.PerUser < 0 || c.Limits.PerAddress < 0 {
		return errors.New("turn: a limit is negative")
	}
	return nil
}

// Issue implements node.Issuer.
func (s *Server) Issue(user string) (node.ICEServer, time.Duration) {
	name, password := s.secret.issue(user, s.limits.Lifetime)
	return node.ICEServer{URLs: s.urls, Username: name, Credential: password}, s.limits.Lifetime
}

// IP is the address that clients are told, and whether it is of a private network, where only that network reaches it.
func (s *Server) IP() (ip netip.Addr, private bool) { return s.ip, s.private }

// URL is what clients are told.
func (s *Server) URL() string { return s.urls[0] }

// Close ends the server and all its allocations.
func (s *Server) Close() error { return s.server.Close() }

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hyroute/hyroute/node/turn"
)

// turnOptions are the flags of the TURN server beside a node.
type turnOptions struct {
	listen, ip, ports string
	private           bool
}

const turnPort = ":3478"

func (o *turnOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.listen, "turn", "", "run a TURN server too, at this UDP `address` ("+turnPort+" if none is given); clients get credentials for it that run out")
	f.Lookup("turn").NoOptDefVal = turnPort
	f.StringVar(&o.ip, "turn-ip", "", "the IP `address` at which clients reach the TURN server (default: this machine's)")
	f.StringVar(&o.ports, "turn-ports", "49152-65535", "the UDP `ports` that the TURN server relays by, one for each allocation")
	f.BoolVar(&o.private, "turn-private", false, "let the TURN server relay to private and loopback addresses as well")
}

// start starts the server that was asked for; nil: none.
func (o *turnOptions) start(realm string) (*turn.Server, error) {
	if o.listen == "" {
		if o.ip != "" || o.private {
			return nil, usageError{errors.New("--turn-ip and --turn-private are of the TURN server: say --turn too")}
		}
		return nil, nil
	}
	c := turn.Config{Realm: realm, Listen: o.listen, Private: o.private}
	if o.ip != "" {
		ip, err := netip.ParseAddr(o.ip)
		if err != nil || ip.IsUnspecified() || ip.IsMulticast() {
			return nil, usageError{fmt.Errorf("--turn-ip %s: write an IP address that clients reach, such as 203.0.113.7", o.ip)}
		}
		c.IP = ip
	}
	if err := o.readPorts(&c.Ports); err != nil {
		return nil, err
	}
	s, err := turn.Start(c)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("UDP %s is in use: stop the program that listens there, or choose another address with --turn=ADDRESS", o.listen)
	case errors.Is(err, turn.ErrNoAddress):
		return nil, fmt.Errorf("%w: say with --turn-ip at which one they do", err)
	}
	return s, err
}

func (o *turnOptions) readPorts(r *turn.PortRange) error {
	first, last, _ := strings.Cut(o.ports, "-")
	from, errFrom := strconv.ParseUint(first, 10, 16)
	to, errTo := strconv.ParseUint(last, 10, 16)
	if errFrom != nil || errTo != nil || from == 0 || to < from {
		return usageError{fmt.Errorf("--turn-ports %s: write a range such as 49152-65535", o.ports)}
	}
	r.First, r.Last = uint16(from), uint16(to)
	return nil
}

// describe says where a TURN server is, and who reaches it.
func describe(s *turn.Server) string {
	line := "The TURN server is at " + s.URL()
	if ip, private := s.IP(); private {
		line += fmt.Sprintf(", which only its own network reaches: if others shall, say with --turn-ip which address leads to %s", ip)
	}
	return line
}

package turn

import (
	"net"
	"net/netip"
	"testing"
)

func TestDestinations(t *testing.T) {
	own := netip.MustParseAddr("198.41.0.4")
	d := &destinations{own: map[netip.Addr]bool{own: true}, ports: PortRange{50000, 50009}}
	private := &destinations{own: d.own, ports: d.ports, private: true}
	for _, test := range []struct {
		to         string
		ok, inside bool // by default, and with Private
	}{
		{"8.8.8.8", true, true},
		{"2606:4700::1111", true, true},
		{"::ffff:8.8.8.8", true, true},
		{"198.41.0.4", true, true},
		{"127.0.0.1", false, true},
		{"::1", false, true},
		{"::ffff:127.0.0.1", false, true},
		{"10.1.2.3", false, true},
		{"172.31.0.1", false, true},
		{"192.168.0.1", false, true},
		{"100.64.0.1", false, true},
		{"169.254.169.254", false, true},
		{"fe80::1", false, true},
		{"fd00::1", false, true},
		{"64:ff9b::a00:1", false, true},
		{"2002:a00:1::", false, true},
		{"0.0.0.0", false, false},
		{"::", false, false},
		{"224.0.0.251", false, false},
		{"ff02::fb", false, false},
		{"255.255.255.255", false, false},
	} {
		ip := net.ParseIP(test.to)
		if got := d.permit(nil, ip); got != test.ok {
			t.Errorf("%s: %t", test.to, got)
		}
		if got := private.permit(nil, ip); got != test.inside {
			t.Errorf("%s, private: %t", test.to, got)
		}
	}
	if d.permit(nil, nil) {
		t.Error("no address is permitted")
	}
	for port, want := range map[uint16]bool{53: false, 49999: false, 50000: true, 50009: true, 50010: false} {
		if got := d.packet(netip.AddrPortFrom(own, port)); got != want {
			t.Errorf("port %d of the server: %t", port, got)
		}
	}
	if !private.packet(netip.AddrPortFrom(own, 53)) {
		t.Error("port 53 of the server, private: refused")
	}
	if d.packet(netip.MustParseAddrPort("10.0.0.1:50000")) || !d.packet(netip.MustParseAddrPort("[::ffff:8.8.8.8]:53")) {
		t.Error("packets do not go where their permissions do")
	}
}

func TestNetworkOfAnAddress(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1:5":           "192.0.2.1/32",
		"[::ffff:192.0.2.1]:5":  "192.0.2.1/32",
		"[2001:db8:1:2:3::4]:5": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:5":      "fe80::/64",
	} {
		if got := network(net.UDPAddrFromAddrPort(netip.MustParseAddrPort(from))).String(); got != want {
			t.Errorf("%s: %s, not %s", from, got, want)
		}
	}
}

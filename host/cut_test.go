package host

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
)

// cable is the system's network, with UDP that can be cut without notice.
type cable struct {
	*stdnet.Net
	cut *atomic.Bool
}

func newCable(t *testing.T, cut *atomic.Bool) *cable {
	t.Helper()
	n, err := stdnet.NewNet()
	if err != nil {
		t.Fatal(err)
	}
	return &cable{n, cut}
}

func (c *cable) ListenUDP(network string, at *net.UDPAddr) (transport.UDPConn, error) {
	conn, err := c.Net.ListenUDP(network, at)
	if err != nil {
		return nil, err
	}
	return &cableConn{conn, c.cut}, nil
}

type cableConn struct {
	transport.UDPConn
	cut *atomic.Bool
}

func (c *cableConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.UDPConn.ReadFrom(b)
		if err != nil || !c.cut.Load() {
			return n, from, err
		}
	}
}

package soak

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
)

var errDown = errors.New("soak: this network is down")

// network is what one runtime has of the system's network. Its sockets can be closed or held up, and all of it can go.
type network struct {
	*stdnet.Net
	udp *atomic.Int64 // sockets open, of all networks

	lock  sync.Mutex
	down  bool
	held  chan struct{} // closed: bytes flow
	conns map[net.Conn]struct{}
	made  map[transport.UDPConn]struct{}
}

func newNetwork(udp *atomic.Int64) (*network, error) {
	system, err := stdnet.NewNet()
	if err != nil {
		return nil, err
	}
	flowing := make(chan struct{})
	close(flowing)
	return &network{Net: system, udp: udp, held: flowing, conns: map[net.Conn]struct{}{}, made: map[transport.UDPConn]struct{}{}}, nil
}

// dial opens a TCP connection.
func (n *network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, kind, address)
	if err != nil {
		return nil, err
	}
	held := &heldConn{Conn: c, of: n}
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.down {
		c.Close()
		return nil, errDown
	}
	n.conns[held] = struct{}{}
	return held, nil
}

// ListenUDP is that of the system, and keeps the socket.
func (n *network) ListenUDP(kind string, local *net.UDPAddr) (transport.UDPConn, error) {
	c, err := n.Net.ListenUDP(kind, local)
	if err != nil {
		return nil, err
	}
	kept := &keptUDP{UDPConn: c, of: n}
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.down {
		c.Close()
		return nil, errDown
	}
	n.made[kept] = struct{}{}
	n.udp.Add(1)
	return kept, nil
}

// cutTCP closes the connections to nodes.
func (n *network) cutTCP() {
	n.lock.Lock()
	defer n.lock.Unlock()
	for c := range n.conns {
		c.(*heldConn).Conn.Close()
	}
}

// cutUDP closes the sockets of peer connections.
func (n *network) cutUDP() {
	n.lock.Lock()
	made := n.made
	n.made = map[transport.UDPConn]struct{}{}
	n.lock.Unlock()
	for c := range made {
		c.Close()
	}
}

// hold keeps what goes to and comes from nodes waiting until the returned function is called.
func (n *network) hold() (release func()) {
	n.lock.Lock()
	defer n.lock.Unlock()
	held := make(chan struct{})
	n.held = held
	return sync.OnceFunc(func() { close(held) })
}

// kill closes everything, for good: nobody hears of this runtime any more.
func (n *network) kill() {
	n.lock.Lock()
	n.down = true
	n.lock.Unlock()
	n.cutTCP()
	n.cutUDP()
}

func (n *network) pass() {
	n.lock.Lock()
	held := n.held
	n.lock.Unlock()
	<-held
}

// heldConn passes bytes when its network does.
type heldConn struct {
	net.Conn
	of *network
}

func (c *heldConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.of.pass()
	return n, err
}

func (c *heldConn) Write(b []byte) (int, error) {
	c.of.pass()
	return c.Conn.Write(b)
}

func (c *heldConn) Close() error {
	c.of.lock.Lock()
	delete(c.of.conns, c)
	c.of.lock.Unlock()
	return c.Conn.Close()
}

// keptUDP is counted while it is open.
type keptUDP struct {
	transport.UDPConn
	of   *network
	once sync.Once
}

func (c *keptUDP) Close() error {
	c.once.Do(func() {
		c.of.lock.Lock()
		delete(c.of.made, c)
		c.of.lock.Unlock()
		c.of.udp.Add(-1)
	})
	return c.UDPConn.Close()
}

// pause is a sleep that ends with ctx, and says whether it was slept out.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

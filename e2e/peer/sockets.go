package main

import (
	"errors"
	"net"
	"sync"

	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
)

// mdnsPort is that of multicast DNS: sockets there carry names, not traffic.
const mdnsPort = 5353

// sockets is the system's network, whose UDP sockets can be closed behind the back of the peer connections that use them.
type sockets struct {
	*stdnet.Net

	lock sync.Mutex
	made []transport.UDPConn
}

func newSockets() (*sockets, error) {
	system, err := stdnet.NewNet()
	if err != nil {
		return nil, err
	}
	return &sockets{Net: system}, nil
}

// ListenUDP is that of the system, and keeps the socket.
func (s *sockets) ListenUDP(network string, local *net.UDPAddr) (transport.UDPConn, error) {
	c, err := s.Net.ListenUDP(network, local)
	if err != nil || local != nil && local.Port == mdnsPort {
		return c, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.made = append(s.made, c)
	return c, nil
}

// closeAll closes the sockets made so far, and says how many were open.
func (s *sockets) closeAll() (n int, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, c := range s.made {
		switch closed := c.Close(); {
		case closed == nil:
			n++
		case !errors.Is(closed, net.ErrClosed):
			err = errors.Join(err, closed)
		}
	}
	s.made = nil
	return n, err
}

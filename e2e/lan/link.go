//go:build linux

package lan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Delay makes the line between an end and the bridge long: every UDP packet, either way, comes out so long after it went in.
// All else passes at once, so that the direct path is far and the node is not. The returned function makes the line short
// again.
//
// The kernels that these runs have to do with can drop packets and not delay them, so the line is a program: two packet
// sockets, between which it carries frames.
func (e *End) Delay(each time.Duration) (stop func() error, err error) {
	near, mid, far := "to-"+e.Name, "mid-"+e.Name, "far-"+e.Name
	for _, c := range []string{
		"ip link add " + mid + " type veth peer name " + far,
		"ip link set " + near + " nomaster",
		"ip link set " + mid + " up",
		"ip link set " + far + " master lan up",
	} {
		if _, err := run(strings.Fields(c)); err != nil {
			return nil, err
		}
	}
	// These two are a wire, and no way to this machine: it must not answer for its other addresses there.
	for _, name := range []string{near, mid} {
		err = errors.Join(err,
			os.WriteFile("/proc/sys/net/ipv4/conf/"+name+"/arp_ignore", []byte("8"), 0),
			os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0))
	}
	if err != nil {
		return nil, fmt.Errorf("lan: %w", err)
	}
	one, err := packetSocket(near)
	if err != nil {
		return nil, err
	}
	other, err := packetSocket(mid)
	if err != nil {
		unix.Close(one)
		return nil, err
	}
	l := &link{each: each, ends: [2]int{one, other}, over: make(chan struct{})}
	l.carry()
	return func() error {
		err := l.close()
		for _, c := range []string{
			"ip link del " + mid,
			"ip link set " + near + " master lan",
		} {
			_, failed := run(strings.Fields(c))
			err = errors.Join(err, failed)
		}
		return err
	}, nil
}

// link carries frames between two packet sockets.
type link struct {
	each    time.Duration
	ends    [2]int
	over    chan struct{}
	running sync.WaitGroup
}

// frame waits for its time.
type frame struct {
	due   time.Time
	bytes []byte
}

// inFlight bounds what is on the way in one direction. What is more is lost, as on any line.
const inFlight = 8192

func (l *link) carry() {
	for i := range l.ends {
		from, to := l.ends[i], l.ends[1-i]
		late := make(chan frame, inFlight)
		l.running.Go(func() {
			defer close(late)
			l.read(from, to, late)
		})
		l.running.Go(func() {
			for f := range late {
				select {
				case <-time.After(time.Until(f.due)):
				case <-l.over:
				}
				unix.Write(to, f.bytes)
			}
		})
	}
}

// read takes frames until the link is over. The head before each frame says what the network card was left to do (checksums,
// cutting into segments), and goes with it.
func (l *link) read(from, to int, late chan<- frame) {
	buffer := make([]byte, headSize+128<<10)
	for {
		select {
		case <-l.over:
			return
		default:
		}
		n, err := unix.Read(from, buffer)
		if err != nil {
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENETDOWN) {
				continue
			}
			return
		}
		if !isUDP(buffer[:n]) {
			unix.Write(to, buffer[:n])
			continue
		}
		select {
		case late <- frame{time.Now().Add(l.each), append([]byte(nil), buffer[:n]...)}:
		default:
		}
	}
}

func (l *link) close() error {
	close(l.over)
	l.running.Wait()
	return errors.Join(unix.Close(l.ends[0]), unix.Close(l.ends[1]))
}

// headSize is that of struct virtio_net_hdr.
const headSize = 10

// isUDP says whether a frame is of IPv4 or IPv6 and carries UDP.
func isUDP(b []byte) bool {
	const macs = 12
	if len(b) < headSize+macs+2+20 {
		return false
	}
	b = b[headSize+macs:]
	switch kind, packet := binary.BigEndian.Uint16(b), b[2:]; kind {
	case unix.ETH_P_IP:
		return packet[9] == unix.IPPROTO_UDP
	case unix.ETH_P_IPV6:
		return packet[6] == unix.IPPROTO_UDP
	}
	return false
}

// packetSocket opens a socket that gets all frames that come in by an interface, and sends by it.
func packetSocket(name string) (int, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0, fmt.Errorf("lan: %w", err)
	}
	all := int(binary.BigEndian.Uint16(binary.LittleEndian.AppendUint16(nil, unix.ETH_P_ALL)))
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all)
	if err != nil {
		return 0, fmt.Errorf("lan: a packet socket: %w", err)
	}
	err = errors.Join(
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1),
		unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<20),
		// So that the reader sees that the link is over.
		unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}),
		unix.Bind(s, &unix.SockaddrLinklayer{Protocol: uint16(all), Ifindex: i.Index}),
	)
	if err != nil {
		unix.Close(s)
		return 0, fmt.Errorf("lan: a packet socket: %w", err)
	}
	return s, nil
}

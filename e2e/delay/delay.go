// Package delay passes TCP on through a line of a given length: every byte comes out so long after it went in, each way,
// as if the two sides were that far apart.
package delay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// inFlight bounds what is on the way in one direction of one connection, in pieces of at most pieceSize bytes.
const (
	inFlight  = 1024
	pieceSize = 32 << 10
)

// Direction says which way a piece goes.
type Direction bool

// The two directions.
const (
	ToServer Direction = false
	ToClient Direction = true
)

// Proxy is a listening proxy.
type Proxy struct {
	listener net.Listener
	target   string
	each     time.Duration
	watch    func(Direction, time.Time, []byte)
	running  sync.WaitGroup
	stop     context.CancelFunc
}

// Listen passes connections to address on to target, each way `each` late. watch, if not nil, is called for each piece
// as it comes out; the bytes are its own only until it returns.
func Listen(address, target string, each time.Duration, watch func(Direction, time.Time, []byte)) (*Proxy, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("delay: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Proxy{listener: listener, target: target, each: each, watch: watch, stop: stop}
	p.running.Go(func() { p.accept(ctx) })
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends all connections.
func (p *Proxy) Close() error {
	p.stop()
	err := p.listener.Close()
	p.running.Wait()
	return err
}

func (p *Proxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.connect(ctx, client) })
	}
}

func (p *Proxy) connect(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	// Whatever one direction meets at its end, the other goes on until it ends too, or all is closed.
	stopped := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer stopped()
	var both sync.WaitGroup
	both.Go(func() { p.pass(ctx, ToServer, server, client) })
	both.Go(func() { p.pass(ctx, ToClient, client, server) })
	both.Wait()
}

type piece struct {
	due   time.Time
	bytes []byte
}

func (p *Proxy) pass(ctx context.Context, way Direction, to, from net.Conn) {
	line := make(chan piece, inFlight)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(line)
		for {
			buffer := make([]byte, pieceSize)
			n, err := from.Read(buffer)
			if n > 0 {
				select {
				case line <- piece{time.Now().Add(p.each), buffer[:n]}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for next := range line {
		select {
		case <-time.After(time.Until(next.due)):
		case <-ctx.Done():
		}
		if p.watch != nil {
			p.watch(way, time.Now(), next.bytes)
		}
		if _, err := to.Write(next.bytes); err != nil {
			from.Close()
		}
	}
	reader.Wait()
	if tcp, ok := to.(*net.TCPConn); ok {
		if err := tcp.CloseWrite(); err != nil && !errors.Is(err, io.EOF) {
			to.Close()
		}
	}
}

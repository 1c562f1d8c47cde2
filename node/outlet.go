package node

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"time"
)

// An outlet is a client's connection whose writes can be gathered: between cork and uncork they wait for each other and leave
// in few system calls. A write that does not get through within its limit fails. Close works at any time, whatever the
// WebSocket above it is waiting for.
type outlet struct {
	net.Conn
	limit time.Duration

	mu      sync.Mutex
	corked  bool
	waiting []byte
	pieces  net.Buffers
}

const (
	outletFull  = 64 << 10 // what waits at most
	outletLarge = 16 << 10 // not worth a copy
	outletKept  = 8 << 10  // memory kept for the next time
	framing     = 2 << 10  // the buffer in which a frame's header meets its payload
)

// uncorkable is a ResponseWriter that is hijacked as an outlet.
type uncorkable struct {
	http.ResponseWriter
	limit  time.Duration
	outlet *outlet
}

// Hijack implements http.Hijacker.
func (u *uncorkable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	u.outlet = &outlet{Conn: conn, limit: u.limit}
	return u.outlet, bufio.NewReadWriter(buffers.Reader, bufio.NewWriterSize(u.outlet, framing)), nil
}

// Write implements net.Conn.
func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.corked {
		return o.write(b)
	}
	if len(b) >= outletLarge {
		if err := o.flushWith(b); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	if len(o.waiting)+len(b) > outletFull {
		if err := o.flush(); err != nil {
			return 0, err
		}
	}
	o.waiting = append(o.waiting, b...)
	return len(b), nil
}

func (o *outlet) write(b []byte) (int, error) {
	if err := o.SetWriteDeadline(time.Now().Add(o.limit)); err != nil {
		return 0, err
	}
	return o.Conn.Write(b)
}

func (o *outlet) flush() error {
	if len(o.waiting) == 0 {
		return nil
	}
	_, err := o.write(o.waiting)
	o.waiting = o.waiting[:0]
	return err
}

// flushWith writes what waits and b behind it, in one system call where the connection can (writev).
func (o *outlet) flushWith(b []byte) error {
	if len(o.waiting) == 0 {
		_, err := o.write(b)
		return err
	}
	if err := o.SetWriteDeadline(time.Now().Add(o.limit)); err != nil {
		return err
	}
	o.pieces = append(o.pieces[:0], o.waiting, b)
	left := o.pieces
	_, err := left.WriteTo(o.Conn)
	clear(o.pieces)
	o.waiting = o.waiting[:0]
	return err
}

func (o *outlet) cork() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.corked = true
}

func (o *outlet) uncork() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.corked = false
	err := o.flush()
	if cap(o.waiting) > outletKept {
		o.waiting = nil
	}
	return err
}

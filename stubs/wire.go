package stubs

import (
	"net"
	"sync"
	"time"
)

// silence is how long a socket may give no byte, or take none, before it counts as dead. The node pings each 25 s, so a
// socket of a living node is never silent that long; a half-open one would otherwise hang for many minutes.
const silence = 35 * time.Second

const corkSize = 64 << 10

// wire is the TCP connection below a WebSocket. It ends reads and writes that stand still, and while it is corked it gathers
// small writes, so that messages that wait together cost one system call.
type wire struct {
	net.Conn
	mu     sync.Mutex // of what follows, and of writing
	corked bool
	held   []byte
}

// Read gives an error when nothing came for as long as silence.
func (w *wire) Read(b []byte) (int, error) {
	if err := w.Conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return w.Conn.Read(b)
}

// Write gives an error when the other side took nothing for as long as silence.
func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.corked && len(w.held)+len(b) <= corkSize {
		w.held = append(w.held, b...)
		return len(b), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return w.write(b)
}

// cork makes Write gather until uncork.
func (w *wire) cork() {
	w.mu.Lock()
	w.corked = true
	w.mu.Unlock()
}

func (w *wire) uncork() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.corked = false
	return w.flush()
}

func (w *wire) flush() error {
	if len(w.held) == 0 {
		return nil
	}
	_, err := w.write(w.held)
	w.held = w.held[:0]
	return err
}

func (w *wire) write(b []byte) (int, error) {
	if err := w.Conn.SetWriteDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

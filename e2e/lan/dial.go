//go:build linux

package lan

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Dial connects from this end, which is how its loopback interface is reached. The address is an IP address and a port.
func (e *End) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	type dialled struct {
		conn net.Conn
		err  error
	}
	done := make(chan dialled, 1)
	go func() {
		// A socket belongs for ever to the namespace of the thread that makes it. The thread is not unlocked: so it ends with
		// this goroutine, and nobody else gets one that is somewhere else.
		runtime.LockOSThread()
		if err := e.enter(); err != nil {
			done <- dialled{err: err}
			return
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		done <- dialled{conn, err}
	}()
	d := <-done
	return d.conn, d.err
}

// enter moves this thread to the end's namespace.
func (e *End) enter() error {
	namespace, err := os.Open("/run/netns/" + e.Name)
	if err != nil {
		return fmt.Errorf("lan: %w", err)
	}
	defer namespace.Close()
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("lan: enter %s: %w", e.Name, err)
	}
	return nil
}

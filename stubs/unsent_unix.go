//go:build linux || darwin

package stubs

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// maxUnsent is how much the system may hold of what has not left yet. Without it a slow link hides megabytes behind the
// socket, where they delay probes and no mark sees them.
const maxUnsent = 128 << 10

// limitUnsent bounds what the system holds unsent for a socket. Where it can not, the socket works all the same.
func limitUnsent(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		if err := unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent); err != nil {
			return
		}
	})
}

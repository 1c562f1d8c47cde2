//go:build linux

package lan

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Listening waits until somebody listens at an address.
func Listening(ctx context.Context, address string) error {
	ctx, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("nobody listens at %s: %w", address, err)
		}
	}
}

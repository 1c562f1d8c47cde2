//go:build unix

package host

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// BenchmarkStore is what a store costs a message of 200 bytes through a node, at the sender, at the receiver, and at both.
func BenchmarkStore(b *testing.B) {
	for _, kind := range []struct {
		name             string
		sender, receiver bool
		sync             bool
	}{
		{name: "none"}, {name: "sender", sender: true}, {name: "receiver", receiver: true}, {name: "both", sender: true, receiver: true},
		{name: "both,sync", sender: true, receiver: true, sync: true},
	} {
		b.Run(kind.name, func(b *testing.B) {
			n := startNode(b)
			connect := func(store bool) *Runtime {
				o := Options{Domain: testDomain, NoDirect: true}
				if store {
					o.Store, o.SyncStore = b.TempDir(), kind.sync
				}
				r, err := Connect(b.Context(), n.url, o)
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { r.Close() })
				return r
			}
			alice, bob := connect(kind.sender), connect(kind.receiver)
			bob.Listen(func(*Message) {})
			text := fmt.Sprintf("%0200d", 0)
			room, done := delivered(200)
			begin := cpu()
			for b.Loop() {
				room <- alice.Post(Draft{To: bob.Address(), Value: text})
			}
			close(room)
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64((cpu()-begin).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

// cpu is what this process used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package host

import (
	"testing"

	"github.com/hyroute/hyroute/identity"
)

// A runtime that has a session with another one is told when that goes, though it sends nothing, and when it is back.
func TestPresence(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		n := startNode(t)
		ctx := testContext(t)
		o.NoDirect, o.Name = true, "alice"
		alice := n.connect(t, o)
		key, err := identity.New()
		if err != nil {
			t.Fatal(err)
		}
		alice.Listen(func(*Message) {})
		o.Name, o.Key = "bob", key
		bob := n.connect(t, o)
		bob.Listen(func(*Message) {})
		events := make(chan PresenceChanged, 10)
		go func() {
			for e := range alice.Events(ctx) {
				if e, ok := e.(PresenceChanged); ok {
					events <- e
				}
			}
		}()
		told := func(status, reason string) {
			t.Helper()
			select {
			case e := <-events:
				if e.Peer != bob.URL() || e.Status != status || e.Reason != reason {
					t.Errorf("told %+v", e)
				}
			case <-ctx.Done():
				t.Fatalf("never told that bob is %s", status)
			}
		}
		if _, err := alice.Post(Draft{To: bob.Address(), Value: 1}).Wait(ctx); err != nil {
			t.Fatal(err)
		}
		bob.Close()
		told("disconnected", "no-such-runtime")
		bob = n.connect(t, o)
		if _, err := bob.Post(Draft{To: alice.Address(), Value: 2}).Wait(ctx); err != nil {
			t.Fatal(err)
		}
		told("live", "heard")
	})
}

package host

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/hyroute/hyroute/identity"
)

// lastStep copies a store as it stands when the first Step with a certain effect is its last one: what a process leaves that dies before
// it carries out the effects of that Step. It is the trace of the runtime, which tells each Step before it is stored.
type lastStep struct {
	store, copied string
	effect        []byte
	passed        bool
	done          chan error
}

func (c *lastStep) Write(b []byte) (int, error) {
	if c.passed && c.done != nil {
		c.done <- os.CopyFS(c.copied, os.DirFS(c.store))
		close(c.done)
		c.done = nil
	}
	c.passed = c.passed || bytes.Contains(b, c.effect)
	return len(b), nil
}

// TestWhatTheFormerLifeWasNotTold: a process that dies between storing a Step and telling its application of the loss that the Step found leaves it
// to its next life to tell.
func TestWhatTheFormerLifeWasNotTold(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		n := startNode(t)
		ctx := testContext(t)
		o.NoDirect = true
		end := &lastStep{store: t.TempDir(), copied: t.TempDir(), effect: []byte("\nsession-reset "), done: make(chan error, 1)}
		copied := end.done
		keys := map[string]*identity.Key{}
		for _, name := range []string{"alice", "bob"} {
			key, err := identity.New()
			if err != nil {
				t.Fatal(err)
			}
			keys[name] = key
		}
		o.Listener = func(*Message) {}
		mine := o
		mine.Name, mine.Key, mine.Store, mine.Trace = "alice", keys["alice"], end.store, end
		alice := n.connect(t, mine)
		o.Name, o.Key = "bob", keys["bob"]
		bob := n.connect(t, o)
		if err := alice.Send(ctx, bob.Address(), "before"); err != nil {
			t.Fatal(err)
		}
		bob.Close()
		o.Clock = func() time.Time { return time.Now().Add(time.Second) } // two lives of one tick would be told apart by chance
		bob = n.connect(t, o)                                             // it remembers nothing
		if err := bob.Send(ctx, alice.Address(), "after"); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-copied:
			if err != nil {
				t.Fatal(err)
			}
		case <-ctx.Done():
			t.Fatal("alice was not told that bob lost its memory")
		}
		alice.Close()

		mine.Store, mine.Trace = end.copied, nil
		again := n.connect(t, mine)
		reset, gap, up := false, false, false
		for e := range again.Events(ctx) {
			switch e := e.(type) {
			case Reset:
				reset = reset || e.Peer == bob.URL() && e.Reason == "peer-lost-state"
			case Gap:
				gap = gap || e.Peer == bob.URL()
			case NodeChanged:
				up = e.Status == "live" // what comes after it may be news of its own
			}
			if up {
				break
			}
		}
		if !reset || !gap || !up {
			t.Errorf("the next life is told of the reset: %v, of the gap: %v, and comes up: %v", reset, gap, up)
		}
	})
}

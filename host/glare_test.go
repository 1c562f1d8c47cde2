package host

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Two runtimes send their first message at one barrier, so that both invite: one connection survives, the same on both sides, and
// nothing is lost (known-faults.md 36: libp2p/js-libp2p#2734). The world does the same with 200 orders of arrival.
func TestKnownFault36BothInviteAtOnce(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	machines(t, func(t *testing.T, o Options) {
		n := startNode(t)
		for range rounds {
			bothInvite(t, n, o)
		}
	})
}

func bothInvite(t *testing.T, n *testNode, o Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	ends := []*Runtime{n.connect(t, o), n.connect(t, o)}
	defer ends[0].Close()
	defer ends[1].Close()
	if err := errors.Join(ends[0].Registered(ctx), ends[1].Registered(ctx)); err != nil {
		t.Fatal(err)
	}
	streams := []*stream{newStream("first to second", ends[0], ends[1]), newStream("second to first", ends[1], ends[0])}
	barrier := make(chan struct{})
	begun := make(chan *Sent, 2)
	for _, s := range streams {
		go func() {
			<-barrier
			begun <- s.from.Post(Draft{To: s.to.Address(), Value: 0})
		}()
	}
	close(barrier)
	for range streams {
		if _, err := (<-begun).Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range streams {
		s.next = 1
	}
	flow(t, ctx, "to the direct path", streams, inARow(Direct, 5))
	drain(t, ctx, streams)
	for _, r := range ends {
		s, err := r.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Peers) != 1 || s.Peers[0].BytesReceived == 0 {
			t.Fatalf("%s has these connections: %+v", r.URL(), s.Peers)
		}
	}
}

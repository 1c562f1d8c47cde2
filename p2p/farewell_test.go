package p2p

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/stubs"
)

// Known-faults.md 32 (libp2p/specs#575). What was sent before Close arrives: the last frame of a runtime that goes is what tells the other side how it ended.
func TestKnownFault32CloseThrowsNothingAway(t *testing.T) {
	for range 5 {
		a, b := twoSides(t, nil, nil)
		got := make(chan uint32, 1<<12)
		over := make(chan stubs.Changed, 1)
		stubA, _ := join(t, a, b, none, func(e stubs.Event) {
			switch e := e.(type) {
			case stubs.Frame:
				got <- binary.BigEndian.Uint32(e.Payload)
			case stubs.Changed:
				if e.Status > stubs.Live {
					over <- e
				}
			}
		})
		head, err := (&frame.Header{Tag: 1}).Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		const count = 40
		for i := range uint32(count) {
			if err := stubA.Transmit(0, head, binary.BigEndian.AppendUint32(nil, i), make([]byte, 12000)); err != nil {
				t.Fatal(err)
			}
		}
		stubA.Close()
		<-over
		if len(got) != count {
			t.Errorf("%d of %d frames came before the end", len(got), count)
		}
		a.endpoint.Close()
		b.endpoint.Close()
	}
}

// The same where the last of it is lost on its way, and then that it is sent again.
func TestKnownFault32CloseOutlivesALoss(t *testing.T) {
	for _, outage := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork(t)
			defer n.router.Stop()
			a, b := twoSides(t, n.a, n.b)
			got := make(chan uint32, 1<<8)
			stubA, _ := join(t, a, b, none, func(e stubs.Event) {
				if f, ok := e.(stubs.Frame); ok {
					got <- binary.BigEndian.Uint32(f.Payload)
				}
			})
			head, err := (&frame.Header{Tag: 1}).Append(nil)
			if err != nil {
				t.Fatal(err)
			}
			n.cut.Store(true)
			const count = 40
			for i := range uint32(count) {
				if err := stubA.Transmit(0, head, binary.BigEndian.AppendUint32(nil, i), make([]byte, 1000)); err != nil {
					t.Fatal(err)
				}
			}
			stubA.Close()
			time.Sleep(outage)
			n.cut.Store(false)
			for i := range uint32(count) {
				select {
				case number := <-got:
					if number != i {
						t.Fatalf("outage of %v: frame %d has number %d", outage, i, number)
					}
				case <-stubA.Done():
					t.Fatalf("outage of %v: %d of %d frames came before the end", outage, len(got)+int(i), count)
				}
			}
			// Neither end hears the other one go: an end that is told holds a lock while it waits, and locks stop virtual time.
			n.cut.Store(true)
			a.endpoint.Close()
			b.endpoint.Close()
		})
	}
}

package p2p

import (
	"encoding/binary"
	"testing"

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

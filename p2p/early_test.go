package p2p

import (
	"encoding/binary"
	"testing"

	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/stubs"
)

// What one side sends the moment it is live arrives, though the other side has not even been told that it is live (known-faults.md
// 16, 17, 18: pion/webrtc#1063, node-datachannel#25, js-libp2p#3576).
func TestKnownFault17WhatIsSentAtOpenArrives(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	defer a.endpoint.Close()
	defer b.endpoint.Close()
	head, err := (&frame.Header{Tag: 1}).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	const count = 100
	live, sent := make(chan struct{}), make(chan struct{})
	got := make(chan uint32, count)
	b.incoming = func(in Incoming) {
		if in.Kind != "offer" {
			return
		}
		b.endpoint.Answer(in.Peer, in.Attempt, func(e stubs.Event) {
			switch e := e.(type) {
			case stubs.Changed:
				if e.Status == stubs.Live {
					<-sent // whoever hears of it is slow
				}
			case stubs.Frame:
				got <- binary.BigEndian.Uint32(e.Payload)
			}
		})
	}
	stubA := a.endpoint.Dial(b.runtime, 1, func(e stubs.Event) {
		if c, ok := e.(stubs.Changed); ok && c.Status == stubs.Live {
			close(live)
		}
	})
	<-live
	for i := range uint32(count) {
		if err := stubA.Transmit(0, head, binary.BigEndian.AppendUint32(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	close(sent)
	for i := range uint32(count) {
		if n := <-got; n != i {
			t.Fatalf("frame %d has number %d", i, n)
		}
	}
}

//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hyroute/hyroute/e2e/delay"
	"github.com/hyroute/hyroute/e2e/lan"
)

// oneWay is how far the ends are from the node in firstMessage (farther in short runs, which share their machine with other
// tests and should count round trips, not the machine's work), and inRoundTrips in how many of the sender's round trips
// after its WebSocket is open the first message must be there.
const (
	oneWayNear   = 50 * time.Millisecond
	oneWayShort  = 250 * time.Millisecond
	inRoundTrips = 2.5
)

// line of a WebSocket's upgrade answer: the socket is open when it comes out at the client.
var upgraded = []byte("HTTP/1.1 101")

// firstMessage: the first message does not wait for a peer connection, nor for more than one flight to the node.
func firstMessage(ctx context.Context, st *stage) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	st.wants = wants{sent: 1}
	oneWay := oneWayNear
	if st.settings.short {
		oneWay = oneWayShort
	}
	if err := st.enter(ctx, nil); err != nil {
		return err
	}
	if err := both(func() error { return st.a.load(ctx) }, func() error { return st.b.load(ctx) }); err != nil {
		return err
	}
	var lock sync.Mutex
	var open, left time.Time // the sender's WebSocket is open; its first session frame came out at the node
	var said opcodes
	far, err := delay.Listen(lan.NodeIP+":0", nodeAddress, oneWay, func(way delay.Direction, at time.Time, b []byte) {
		lock.Lock()
		defer lock.Unlock()
		switch {
		case way == delay.ToClient && open.IsZero() && bytes.HasPrefix(b, upgraded):
			open = at
		case way == delay.ToServer && left.IsZero() && bytes.IndexByte(said.read(b), binaryFrame) >= 0:
			left = at.Add(-oneWay)
		}
	})
	if err != nil {
		return err
	}
	defer far.Close()
	near, err := delay.Listen(lan.NodeIP+":0", nodeAddress, oneWay, nil)
	if err != nil {
		return err
	}
	defer near.Close()
	if err := st.b.connect(ctx, joining{URL: "ws://" + near.Addr() + "/ws", Tell: true, Trace: st.settings.trace}); err != nil {
		return err
	}
	if err := quiet(ctx); err != nil {
		return err
	}
	j := joining{URL: "ws://" + far.Addr() + "/ws", To: st.b.address, Trace: st.settings.trace}
	if err := st.a.connectAndSend(ctx, j); err != nil {
		return err
	}
	delivered, err := st.b.news.wait(ctx, eventDelivered, func(event) bool { return true })
	if err != nil {
		return err
	}
	lock.Lock()
	defer lock.Unlock()
	var wrong error
	if open.IsZero() || left.IsZero() {
		return errors.New("the sender's WebSocket was never seen to open, or no session frame went through it")
	}
	took := float64(delivered.at.Sub(open)) / float64(2*oneWay)
	if took > inRoundTrips {
		wrong = fmt.Errorf("the first message took %.2f round trips after the WebSocket was open: at most %.1f were wanted", took, inRoundTrips)
	}
	for _, s := range st.sides() {
		if made := s.news.of(eventConnection); len(made) > 0 && made[0].at.Before(left) {
			wrong = errors.Join(wrong, fmt.Errorf("%s made a peer connection before the first message left", s.name))
		}
	}
	st.note("the first message took %.2f round trips after the WebSocket was open", took)
	for _, posted := range st.a.news.of(eventPosted) {
		st.note("after it was open: posted %v, left %v, delivered %v", posted.at.Sub(open), left.Sub(open), delivered.at.Sub(open))
	}
	return wrong
}

// sendBeforeLoad: send works at once, also before the module has been loaded.
func sendBeforeLoad(ctx context.Context, st *stage) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	st.wants = wants{sent: 1}
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	defer release()
	if err := st.enter(ctx, held); err != nil {
		return err
	}
	if err := st.b.connect(ctx, joining{URL: st.url(), Tell: true, Trace: st.settings.trace}); err != nil {
		return err
	}
	return both(
		func() error {
			return st.a.connectAndSend(ctx, joining{URL: st.url(), To: st.b.address, Trace: st.settings.trace})
		},
		func() error {
			if _, err := st.a.news.wait(ctx, eventPosted, func(event) bool { return true }); err != nil {
				return err
			}
			st.note("a message is posted; the module may come now")
			release()
			_, err := st.b.news.wait(ctx, eventDelivered, func(event) bool { return true })
			return err
		},
	)
}

package p2p

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/logging"
	"github.com/pion/transport/v5/vnet"

	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/stubs"
)

// network is two hosts and a switch, in virtual time.
type network struct {
	router *vnet.Router
	a, b   *vnet.Net
	cut    atomic.Bool
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{}
	var err error
	n.router, err = vnet.NewRouter(&vnet.RouterConfig{CIDR: "10.0.0.0/24", LoggerFactory: logging.NewDefaultLoggerFactory()})
	if err != nil {
		t.Fatal(err)
	}
	for i, host := range []**vnet.Net{&n.a, &n.b} {
		if *host, err = vnet.NewNet(&vnet.NetConfig{StaticIPs: []string{[]string{"10.0.0.1", "10.0.0.2"}[i]}}); err != nil {
			t.Fatal(err)
		}
		if err := n.router.AddNet(*host); err != nil {
			t.Fatal(err)
		}
	}
	n.router.AddChunkFilter(func(vnet.Chunk) bool { return !n.cut.Load() })
	if err := n.router.Start(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Known-faults.md 29 (js-libp2p#3461). A path that is cut without notice, for however long the machine may watch it, must carry again soon after it is back, with
// everything that was sent meanwhile, in order.
func TestKnownFault29PathThatWasCutComesBack(t *testing.T) {
	for _, outage := range []time.Duration{3 * time.Second, 10 * time.Second, 45 * time.Second} {
		outageOf(t, outage, false)
	}
}

// The same where the machine asks for a restart when it condemns the channel, as it does, while nothing gets through: it must not
// be later than without.
func TestRestartThatFindsNoPathDoesNoHarm(t *testing.T) {
	for _, outage := range []time.Duration{5 * time.Second, 10 * time.Second, 19 * time.Second, 45 * time.Second} {
		outageOf(t, outage, true)
	}
}

func outageOf(t *testing.T, outage time.Duration, restart bool) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		defer n.router.Stop()
		a, b := twoSides(t, n.a, n.b)
		// Neither end hears the other one go: an end that is told holds a lock while it waits, and locks stop virtual time.
		defer func() {
			n.cut.Store(true)
			a.endpoint.Close()
			b.endpoint.Close()
		}()
		var mu sync.Mutex
		var got []uint32
		var last time.Time
		changed := func(e stubs.Event) {
			if c, ok := e.(stubs.Changed); ok && c.Status > stubs.Live {
				t.Errorf("after %v: %v %s", outage, c.Status, c.Reason)
			}
		}
		stubA, _ := join(t, a, b, changed, func(e stubs.Event) {
			changed(e)
			if f, ok := e.(stubs.Frame); ok {
				mu.Lock()
				got, last = append(got, binary.BigEndian.Uint32(f.Payload)), time.Now()
				mu.Unlock()
			}
		})
		head, err := (&frame.Header{Tag: 1}).Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		sent := uint32(0)
		send := func(d time.Duration) {
			for range d / (10 * time.Millisecond) {
				if err := stubA.Transmit(0, head, binary.BigEndian.AppendUint32(nil, sent)); err != nil {
					t.Fatal(err)
				}
				sent++
				time.Sleep(10 * time.Millisecond)
			}
		}
		send(time.Second)
		n.cut.Store(true)
		if restart {
			send(4 * time.Second)
			stubA.Restart(1)
			send(outage - 4*time.Second)
		} else {
			send(outage)
		}
		n.cut.Store(false)
		back := time.Now()
		for {
			mu.Lock()
			all := len(got) == int(sent)
			mu.Unlock()
			if all {
				break
			}
			if time.Since(back) > time.Minute {
				t.Fatalf("%d of %d frames a minute after an outage of %v", len(got), sent, outage)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if late := last.Sub(back); late > maxRTO+500*time.Millisecond {
			t.Errorf("outage of %v: all frames were there %v after its end", outage, late)
		}
		for i, number := range got {
			if number != uint32(i) {
				t.Fatalf("frame %d has number %d", i, number)
			}
		}
	})
}

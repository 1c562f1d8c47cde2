package p2p

import (
	"encoding/binary"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
	"github.com/hyroute/hyroute/stubs/stubtest"
)

// spoken counts the signals of a kind that a side says, keeps the last one, and loses as many as it is told to.
type spoken struct {
	mu    sync.Mutex
	count map[string]int
	last  map[string]message.Envelope
	lose  map[string]int
	said  chan string
}

func listen(s *side) *spoken {
	x := &spoken{count: map[string]int{}, last: map[string]message.Envelope{}, lose: map[string]int{}, said: make(chan string, 1024)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filter = func(m *message.Envelope) bool {
		var body signalBody
		if json.Unmarshal(m.Body, &body) != nil {
			return true
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		x.count[body.Kind]++
		x.last[body.Kind] = *m
		x.said <- body.Kind
		if x.lose[body.Kind] > 0 {
			x.lose[body.Kind]--
			return false
		}
		return true
	}
	return x
}

// await returns when a signal of that kind was said.
func (x *spoken) await(kind string) {
	for k := range x.said {
		if k == kind {
			return
		}
	}
}

// ufrags are the user names of the paths that a stub uses, its own and the peer's.
func ufrags(s *Stub) (own, peers string) {
	done := make(chan struct{})
	s.do(func() error {
		own, peers = ufragOf(s.connection.CurrentLocalDescription().SDP), s.restarts.ufrag
		close(done)
		return nil
	})
	<-done
	return own, peers
}

// A restart on an open channel, with signals of it lost and others late, moves the connection to other paths; everything that is
// sent meanwhile arrives, in order (known-faults.md 38: trystero; pion/webrtc).
func TestKnownFault38RestartOnAnOpenChannel(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	defer a.endpoint.Close()
	defer b.endpoint.Close()
	got := make(chan uint32, 1<<12)
	over := func(e stubs.Event) {
		if c, ok := e.(stubs.Changed); ok && c.Status > stubs.Live {
			t.Errorf("%v %s %v", c.Status, c.Reason, c.Err)
		}
	}
	stubA, stubB := join(t, a, b, over, func(e stubs.Event) {
		over(e)
		if f, ok := e.(stubs.Frame); ok {
			got <- binary.BigEndian.Uint32(f.Payload)
		}
	})
	ownA, peersA := ufrags(stubA)
	head, err := (&frame.Header{Tag: 1}).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	next, want := uint32(0), uint32(0)
	send := func(count int) {
		for range count {
			if err := stubA.Transmit(0, head, binary.BigEndian.AppendUint32(nil, next)); err != nil {
				t.Fatal(err)
			}
			next++
		}
	}
	take := func() {
		for ; want < next; want++ {
			if n := <-got; n != want {
				t.Fatalf("frame %d has number %d", want, n)
			}
		}
	}
	saidA, saidB := listen(a), listen(b)
	saidA.lose["reoffer"], saidB.lose["reanswer"] = 1, 1
	send(10)
	stubA.Restart(1)
	saidA.await("reoffer") // lost
	send(10)
	stubA.Restart(1)
	saidA.await("reoffer")
	saidB.await("reanswer") // lost
	stubA.Restart(1)
	saidB.await("reanswer")
	send(10)
	take()
	newA, newPeersA := ufrags(stubA)
	newB, newPeersB := ufrags(stubB)
	if newA == ownA || newPeersA == peersA || newA != newPeersB || newB != newPeersA {
		t.Errorf("paths of %s and %s before, of %s, %s, %s, %s after", ownA, peersA, newA, newPeersA, newB, newPeersB)
	}
	// What is of an earlier generation, or from the side that does not offer, means nothing.
	saidB.mu.Lock()
	oldAnswer := saidB.last["reanswer"]
	saidB.mu.Unlock()
	stubA.Restart(2)
	saidB.await("reanswer")
	if _, err := a.endpoint.Receive(oldAnswer); err != nil {
		t.Error(err)
	}
	stubB.Restart(7)
	stubA.Restart(1)
	send(10)
	take()
	if saidA.count["reoffer"] != 4 || saidB.count["reoffer"] != 0 {
		t.Errorf("%d and %d offers of other paths", saidA.count["reoffer"], saidB.count["reoffer"])
	}
	if _, peers := ufrags(stubA); peers == newPeersA {
		t.Error("the second restart did not move the connection")
	}
}

// Nonsense that a peer signs does no harm to the connection, and is not heard without end.
func TestSignalsOfAPeerAreBounded(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	defer a.endpoint.Close()
	defer b.endpoint.Close()
	got := make(chan struct{}, 1)
	var complaints atomic.Int32
	stubA, stubB := join(t, a, b, none, func(e stubs.Event) {
		switch e.(type) {
		case stubs.Complained:
			complaints.Add(1)
		case stubs.Frame:
			got <- struct{}{}
		}
	})
	for range 10 * signalsAtOnce {
		stubB.signalled("reoffer", "9\nnonsense")
	}
	ufrags(stubB) // all that was taken is done
	if n := complaints.Load(); n == 0 || n > signalsAtOnce+signalsPerSecond*60 {
		t.Errorf("%d of %d signals were looked at", n, 10*signalsAtOnce)
	}
	head, err := (&frame.Header{Tag: 1}).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := stubA.Transmit(0, head); err != nil {
		t.Fatal(err)
	}
	<-got
}

// A candidate whose name can not be resolved is no reason to fail, be it the first one or one among others (known-faults.md 50:
// pion/webrtc#699).
func TestKnownFault50NamesThatCanNotBeResolved(t *testing.T) {
	a, b := twoSides(t, nil, nil)
	defer a.endpoint.Close()
	defer b.endpoint.Close()
	id := attemptOf{b.runtime, joinAttempt}
	const candidate = `{"candidate":"candidate:1 1 udp 2113937151 3f1b2c9e-0d0c-4f86-9f43-0d3a4c1d2e5f.local 50000 typ host","sdpMid":"0","sdpMLineIndex":0}`
	if err := a.endpoint.send(id, "candidate", candidate); err != nil {
		t.Fatal(err)
	}
	complaints := make(chan string, 64)
	join(t, a, b, none, func(e stubs.Event) {
		if c, ok := e.(stubs.Complained); ok {
			complaints <- c.Text
		}
	})
	if err := a.endpoint.send(id, "candidate", candidate); err != nil {
		t.Fatal(err)
	}
}

// What is opened and closed a thousand times leaves nothing behind: no goroutine, no connection, no memory to speak of
// (known-faults.md 53, 54: pion/webrtc#2672, js-libp2p#1976).
func TestKnownFault53ConnectionsLeaveNothing(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	a, b := twoSides(t, nil, nil)
	memory := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var settled uint64
	for i := range rounds {
		stubA, stubB := join(t, a, b, none, none)
		stubA.Close()
		stubB.Close()
		<-stubA.Done()
		<-stubB.Done()
		if i == rounds/10 {
			settled = memory()
		}
	}
	a.endpoint.mu.Lock()
	if n := len(a.endpoint.stubs) + len(a.endpoint.waiting.attempts); n > 0 {
		t.Errorf("%d stubs and attempts are left", n)
	}
	a.endpoint.mu.Unlock()
	if grown := int64(memory()) - int64(settled); grown > 2<<20 {
		t.Errorf("%d bytes more after %d connections than after %d", grown, rounds, rounds/10)
	}
	a.endpoint.Close()
	b.endpoint.Close()
	stubtest.NoGoroutines(t, "hyroute/p2p.", "pion/")
}

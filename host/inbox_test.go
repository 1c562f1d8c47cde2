package host

import (
	"testing"
	"time"
)

type nothing struct{}

func (nothing) apply(*loop) {}

// resting is an inbox whose loop nobody owns, nor did for a while.
func resting(t *testing.T) *inbox {
	b := newInbox()
	t.Cleanup(func() { b.close() })
	if !b.release() {
		t.Fatal("an empty inbox is not given back")
	}
	b.rested = b.rested.Add(-time.Second)
	return b
}

func TestOwnersOfTheLoop(t *testing.T) {
	b := resting(t)
	if own, ok := b.putLone(nothing{}); !own || !ok {
		t.Error("who posts a lone message does not run the loop")
	}
	if own := b.putWeighed(nothing{}, 1); own {
		t.Error("two own the loop")
	}
	if b.claim() || b.release() {
		t.Error("a loop with something to do is not its owner's")
	}
	if got := b.take(nil); len(got) != 2 {
		t.Errorf("%d inputs of 2", len(got))
	}
	if !b.release() {
		t.Error("a loop with nothing to do is not given back")
	}
	// This one comes right behind.
	if own, _ := b.putLone(nothing{}); own {
		t.Error("who posts one of a stream runs the loop")
	}
	<-b.wake // to the loop's goroutine
}

func TestLateInputsWaitForOthers(t *testing.T) {
	b := resting(t)
	b.owned = true
	b.putLate(nothing{})
	if !b.release() {
		t.Error("what came late keeps its owner")
	}
	if !b.claim() {
		t.Error("who has time for what came late can not run the loop")
	}
	b.take(nil)
	b.owned = true
	b.putLate(nothing{})
	if b.claim() || b.release() {
		t.Error("what came late and is asked for does not keep the loop's owner")
	}
	b.take(nil)
	b.release()
	b.putLate(nothing{})
	<-b.wake // nobody came
	if got := b.take(nil); len(got) != 1 {
		t.Errorf("%d inputs of 1", len(got))
	}
	b.release()
	for range manyLate {
		b.putLate(nothing{})
	}
	if !b.owned {
		t.Error("many late inputs wake nobody")
	}
}

func TestAloneLoopIsRunByItsGoroutineOnly(t *testing.T) {
	b := resting(t)
	b.alone = true
	for _, put := range []func() bool{
		func() bool { own, _ := b.putLone(nothing{}); return own },
		func() bool { return b.putWeighed(nothing{}, 1) },
		func() bool { b.putLate(nothing{}); return b.claim() },
	} {
		if put() {
			t.Error("another one owns the loop")
		}
		<-b.wake
		b.take(nil)
		b.release()
		b.rested = b.rested.Add(-time.Second)
	}
}

// A message counts as delivered when its listener begins with it, and nobody has to wait for its end.
func TestDeliveredWhenTheListenerBegins(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		n := startNode(t)
		o.NoDirect = true
		alice, bob := n.connect(t, o), n.connect(t, o)
		end := make(chan struct{})
		ended := make(chan struct{})
		bob.Listen(func(*Message) {
			<-end
			close(ended)
		})
		if err := alice.Send(testContext(t), bob.Address(), "begin"); err != nil {
			t.Error(err)
		}
		close(end)
		<-ended
	})
}

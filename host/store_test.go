package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// told are the events of a runtime that say that something was lost.
func told(ctx context.Context, r *Runtime) chan Event {
	c := make(chan Event, 100)
	go func() {
		for e := range r.Events(ctx) {
			switch e.(type) {
			case Reset, Gap:
				c <- e
			}
		}
		close(c)
	}()
	return c
}

// TestMessagesOutliveTheirRuntimes: both ends of a session end and come back, each with messages on their way; it goes on
// as if nothing had been.
func TestMessagesOutliveTheirRuntimes(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		n := startNode(t)
		ctx := testContext(t)
		traces := map[string]*traced{}
		start := func(name string) *Runtime {
			o := o
			o.Name, o.Store = name, t.TempDir()
			return n.connect(t, o)
		}
		again := func(r *Runtime) *Runtime {
			t.Helper()
			o := r.options
			o.Key, o.Domain = nil, ""
			tr := &traced{}
			traces[o.Name] = tr
			o.Trace = tr
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			next := n.connect(t, o)
			if next.URL() != r.URL() || next.Address() != r.Address() {
				t.Errorf("%s came back as %s", r.URL(), next.URL())
			}
			return next
		}
		t.Cleanup(func() {
			for name, tr := range traces {
				if t.Failed() {
					t.Logf("%s:\n%s", name, tr)
				}
			}
		})
		alice, bob := start("alice"), start("bob")
		if err := errors.Join(alice.Registered(ctx), bob.Registered(ctx)); err != nil {
			t.Fatal(err)
		}
		next := map[*Runtime]int{}
		post := func(from, to *Runtime, count int) (all []*Sent) {
			for range count {
				next[from]++
				all = append(all, from.Post(Draft{To: to.Address(), Value: fmt.Sprint(next[from])}))
			}
			for _, s := range all {
				select {
				case <-s.Stored():
				case <-ctx.Done():
					t.Fatal("not stored")
				}
			}
			return all
		}
		takes := func(r *Runtime, first, last int) {
			t.Helper()
			for i := first; i <= last; i++ {
				m, err := r.Receive(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if m.Text() != fmt.Sprint(i) {
					t.Fatalf("%s took %q, want %d", r.Address(), m.Text(), i)
				}
			}
		}
		post(alice, bob, 60)
		post(bob, alice, 60)
		takes(bob, 1, 10)
		takes(alice, 1, 10)
		alice2, bob2 := again(alice), again(bob)
		if a, b := len(alice2.Restored()), len(bob2.Restored()); a < 50 || b < 50 {
			t.Errorf("%d and %d messages restored, want 50 at least", a, b)
		}
		aTold, bTold := told(ctx, alice2), told(ctx, bob2)
		next[alice2], next[bob2] = next[alice], next[bob]
		more := append(post(alice2, bob2, 5), post(bob2, alice2, 5)...)
		takes(bob2, 11, 65)
		takes(alice2, 11, 65)
		alice2.Listen(func(*Message) {})
		bob2.Listen(func(*Message) {})
		for _, x := range append(alice2.Restored(), bob2.Restored()...) {
			more = append(more, x.Sent)
		}
		for i, s := range more {
			if _, err := s.Wait(ctx); err != nil {
				t.Fatalf("message %d of %d: %v", i, len(more), err)
			}
		}
		alice2.Close()
		bob2.Close()
		for _, c := range []chan Event{aTold, bTold} {
			for e := range c {
				t.Errorf("told %T %+v", e, e)
			}
		}
	})
}

// TestOptionsAreThoseOfTheNewLife: a state does not bring back what a program was told not to do.
func TestOptionsAreThoseOfTheNewLife(t *testing.T) {
	n := startNode(t)
	ctx := testContext(t)
	dir := t.TempDir()
	bob := n.connect(t, Options{})
	bob.Listen(func(*Message) {})
	alice := n.connect(t, Options{Store: dir})
	if err := alice.Send(ctx, bob.Address(), 1); err != nil {
		t.Fatal(err)
	}
	for e := range alice.Events(ctx) {
		if p, ok := e.(PathChanged); ok && p.Path == Direct {
			break
		}
	}
	alice.Close()
	again := n.connect(t, Options{Store: dir, NoDirect: true})
	if err := again.Send(ctx, bob.Address(), 2); err != nil {
		t.Fatal(err)
	}
	if x, err := again.Explain(ctx, bob.Address()); err != nil || x.Path != Relay || x.Reason == "in-progress" {
		t.Errorf("%+v %v", x, err)
	}
}

func TestOneRuntimeAStore(t *testing.T) {
	n := startNode(t)
	dir := t.TempDir()
	n.connect(t, Options{Store: dir})
	_, err := Connect(testContext(t), n.url, Options{Store: dir, Domain: testDomain})
	if code(err) != NotStored || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another runtime uses it") {
		t.Errorf("a store for two: %v", err)
	}
}

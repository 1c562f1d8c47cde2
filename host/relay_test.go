package host

import (
	"errors"
	"testing"
)

func TestMessagesBothWays(t *testing.T) {
	machines(t, func(t *testing.T, o Options) {
		n := startNode(t)
		ctx := testContext(t)
		o.NoDirect = true
		var ta, tb traced
		o.Trace = &ta
		o.Name = "alice"
		alice := n.connect(t, o)
		o.Trace = &tb
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("alice:\n%s\nbob:\n%s", ta.String(), tb.String())
			}
		})
		o.Name = "bob"
		bob := n.connect(t, o)
		if alice.Address() != "hyperty://a.example/alice" || bob.Domain() != testDomain {
			t.Errorf("%s at %s", alice.Address(), bob.Domain())
		}
		if err := errors.Join(alice.Registered(ctx), bob.Registered(ctx)); err != nil {
			t.Fatal(err)
		}
		sent := alice.Post(Draft{To: bob.Address(), Value: "hello"})
		m, err := bob.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if m.From != alice.Address() || m.To != bob.Address() || m.Text() != "hello" || m.Path != Relay {
			t.Errorf("%+v", m)
		}
		if r, err := sent.Wait(ctx); err != nil || !r.Delivered || r.Path != Relay {
			t.Errorf("%+v %v", r, err)
		}
		bob.Listen(func(m *Message) { m.Reply("re: " + m.Text()) })
		answer, err := alice.Request(ctx, bob.Address(), "and you?")
		if err != nil {
			t.Fatal(err)
		}
		if answer.Text() != "re: and you?" || answer.Code != 200 || answer.From != bob.Address() {
			t.Errorf("%+v", answer)
		}
	})
}

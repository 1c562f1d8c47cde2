package resolver

import (
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
)

// TestADecisionIsRememberedUntilSomethingChanges asks for one route before and after all that a route hangs on.
func TestADecisionIsRememberedUntilSomethingChanges(t *testing.T) {
	from, to := address.MustParse("hyperty://a.example/alice"), address.MustParse("hyperty://a.example/bob")
	peer := address.MustParse("runtime://a.example/r2")
	numbers := DefaultNumbers()
	r := New(address.MustParse("runtime://a.example/r1"), nil, true, numbers)
	ask := func(want By, what string) *Route {
		t.Helper()
		d := r.Route(from, to, false, false)
		if d.By != want {
			t.Errorf("%s: by %v, not %v", what, d.By, want)
		}
		if again := r.Route(from, to, false, false); again != d {
			t.Errorf("%s: the same question makes another route", what)
		}
		return d
	}
	ask(ByNone, "nobody listens at the sender's address")
	r.Listen(from)
	ask(ByLookup, "nothing is known")
	r.Remember(to, 200, peer, true)
	if d := ask(BySession, "it is found"); d.Stub != 0 {
		t.Errorf("it goes by stub %d, which there is not", d.Stub)
	}
	r.SetPeer(peer, PeerStub{Stub: 7, Live: true})
	if d := ask(BySession, "a channel is live"); d.Stub != 7 {
		t.Errorf("it goes by stub %d, not by the channel", d.Stub)
	}
	if d := r.Route(from, to, true, false); d.Direct {
		t.Error("it may go by a channel, and that was not wanted")
	}
	before := r.Known(to).use
	ask(BySession, "as before")
	if r.Stale(to).use != before+2 {
		t.Error("the use of an entry is not noted for each message")
	}
	r.Advance(numbers.Found)
	ask(ByLookup, "what was found is old")
	r.Listen(to)
	ask(ByLocal, "it came here")
	r.Unlisten(to)
	r.Remember(to, 200, peer, true)
	ask(BySession, "it went there again")
	r.Forget(to)
	ask(ByLookup, "it is forgotten")
}

package host

import (
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
)

func TestLives(t *testing.T) {
	l := lives{ended: map[address.Address]uint64{}}
	var a, b address.Address
	for text, to := range map[string]*address.Address{"runtime://a.example/a": &a, "runtime://a.example/b": &b} {
		var err error
		if *to, err = address.Parse(text); err != nil {
			t.Fatal(err)
		}
	}
	l.end(a, 1000)
	for _, c := range []struct {
		url        address.Address
		wall, want uint64
	}{{a, 1001, 1032}, {a, 990, 1032}, {a, 5000, 5000}, {b, 1001, 1001}} {
		if got := l.begin(c.url, c.wall); got != c.want {
			t.Errorf("%v at %d begins at %d, not %d", c.url, c.wall, got, c.want)
		}
	}
	if l.end(b, 2000); len(l.ended) != 1 {
		t.Errorf("%d ends are remembered: those long ago mean nothing", len(l.ended))
	}
}

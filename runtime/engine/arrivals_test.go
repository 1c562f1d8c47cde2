package engine

import (
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
)

func TestAddressesNamedAfterTheirRuntime(t *testing.T) {
	peer := address.MustParse("runtime://d/abc")
	for from, want := range map[string]bool{
		"hyperty://d/abc":         true,
		"comm://d/abc":            true,
		"hyperty://d/abcd":        false,
		"hyperty://e/abc":         false,
		"queue://d/abc":           false,
		"hyperty://registry.d/ab": false,
	} {
		if got := namedAfter(address.MustParse(from), peer); got != want {
			t.Errorf("%s belongs to %s: %v", from, peer, got)
		}
	}
}

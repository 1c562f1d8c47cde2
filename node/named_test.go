package node

import (
	"strings"
	"testing"
)

func TestAddressNamedAfterAnotherRuntime(t *testing.T) {
	w := newWorld(t, nil)
	a, mallory := w.enter(), w.enter()
	own := strings.Replace(a.url, "runtime://", "hyperty://", 1)
	mallory.expect(403, create(mallory, own, ""))
	a.expect(200, create(a, own, ""))
	a.expect(200, update(a, own, `,"value":{"status":"disconnected"}`))
	mallory.expect(403, create(mallory, own, "")) // nor when its owner is away
}

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

	// To subscribe it gives neither its messages nor the right to send from it.
	mallory.expect(200, sub(mallory, own))
	mallory.expect(403, `{"id":5,"type":"update","from":"`+own+`","to":"`+a.url+`","body":{}}`)
	mallory.send(`{"id":6,"type":"update","from":"` + mallory.url + `","to":"` + own + `/x"}`)
	if got := a.next(); got["to"] != own+"/x" {
		t.Errorf("got %v", got)
	}
	a.send(`{"id":7,"type":"update","from":"` + own + `","to":"` + mallory.url + `"}`)
	if got := mallory.next(); got["from"] != own {
		t.Errorf("got %v", got)
	}
}

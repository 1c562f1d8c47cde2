package node

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/message"
)

// FuzzClient gives the node what a client that has opened a runtime may send, several messages of either kind: it neither
// panics nor says anything that its own readers refuse, and its queue accounts for every byte.
func FuzzClient(f *testing.F) {
	record := func(binaryKind byte, b string) string {
		return string(append(binary.BigEndian.AppendUint16([]byte{binaryKind}, uint16(len(b))), b...))
	}
	const me, to = "runtime://a.example/me", "domain://registry.a.example"
	name := string(frame.AppendName(nil, 1, me))
	f.Add([]byte(record(1, name) + record(1, string(frame.AppendForward(nil, 1))+"frame")))
	f.Add([]byte(record(0, `{"id":1,"type":"create","from":"`+me+`","to":"`+to+`","body":{"value":{"url":"hyperty://a.example/x","runtime":"`+me+`","expires":5,"x":{"__proto__":1}}}}`) +
		record(0, `{"id":2,"type":"read","from":"`+me+`/registry","to":"`+to+`","body":{"resource":"hyperty://a.example/x"}}`)))
	f.Add([]byte(record(0, `{"id":"3","type":"subscribe","from":"`+me+`","to":"domain://msg-node.a.example/sm","body":{"resources":["hyperty://a.example/y"]}}`) +
		record(0, `{"id":4,"type":"update","from":"hyperty://a.example/y","to":"hyperty://a.example/y"}`)))
	f.Add([]byte(record(0, `{"id":5,"type":"create","from":"`+me+`","to":"domain://msg-node.a.example/address-allocation","body":{"scheme":"comm","value":{"number":2}}}`)))
	f.Add([]byte(record(0, `{"id":6,"type":"open","from":"`+me+`","to":"mn:/session","body":{"key":"a","signature":"b","nonce":"c"}}`)))
	f.Add([]byte(record(0, `{"id":7,"type":"re-open","from":"`+me+`/t","to":"mn:/session"}`) + record(0, `{"id":8,"type":"close","from":"`+me+`","to":"mn:/session"}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := New(Config{Domain: domain, AllowUnsigned: true, Clock: newTestClock()})
		if err != nil {
			t.Fatal(err)
		}
		near, far := net.Pipe()
		defer far.Close()
		c := &client{node: n, queue: newQueue(&n.config.Limits), outlet: &outlet{Conn: near}, sessions: true, nonce: "0123456789012345678901"}
		defer func() {
			if f := c.farewell.Load(); f != nil {
				f.force.Stop()
			}
			n.detach(c)
			for handle, s := range c.names {
				n.leave(s, c, uint64(handle))
			}
			n.Close()
		}()
		c.text([]byte(`{"id":1,"type":"open","from":"` + me + `","to":"mn:/session"}`))
		if c.session.Load() == nil {
			t.Fatal("not open")
		}
		for len(b) >= 3 && c.farewell.Load() == nil {
			size := min(int(binary.BigEndian.Uint16(b[1:])), len(b)-3)
			if b[0]&1 == 1 {
				c.envelope(b[3 : 3+size])
			} else {
				c.text(b[3 : 3+size])
			}
			b = b[3+size:]
		}
		records, _ := c.queue.take(nil)
		if int64(len(records)) != c.queue.size.Load() {
			t.Errorf("%d bytes wait, the queue counts %d", len(records), c.queue.size.Load())
		}
		for len(records) > 0 {
			kind, payload, rest := next(records)
			if kind == 1 {
				_, err = message.Parse(payload)
			} else {
				_, err = frame.ReadEnvelope(payload)
			}
			if err != nil {
				t.Errorf("the node says %q: %v", payload, err)
			}
			records = rest
		}
	})
}

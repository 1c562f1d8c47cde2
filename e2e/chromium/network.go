package chromium

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"sync"
)

// Traffic is what a page transferred.
type Traffic struct {
	Requests int // HTTP requests that were answered whole
	HTTP     int // bytes of the answers as they came, with their heads
	Sockets  int // WebSockets that were opened
	Frames   int // bytes in WebSocket frames, both ways
}

// Watch has the page's traffic counted from now on: the function says how much it was so far. It switches on the Network
// domain, which slows WebSockets down by a lot: not for a page whose speed is measured.
func (p *Page) Watch(ctx context.Context) (func() Traffic, error) {
	var lock sync.Mutex
	var sum Traffic
	count := func(add func(params string)) func(string) {
		return func(params string) {
			lock.Lock()
			defer lock.Unlock()
			add(params)
		}
	}
	frame := count(func(params string) { sum.Frames += frameLength(params) })
	p.told.Listen("Network.webSocketFrameSent", frame)
	p.told.Listen("Network.webSocketFrameReceived", frame)
	p.told.Listen("Network.webSocketCreated", count(func(string) { sum.Sockets++ }))
	p.told.Listen("Network.loadingFinished", count(func(params string) {
		var finished struct{ EncodedDataLength float64 }
		if json.Unmarshal([]byte(params), &finished) == nil {
			sum.Requests++
			sum.HTTP += int(finished.EncodedDataLength)
		}
	}))
	return func() Traffic {
		lock.Lock()
		defer lock.Unlock()
		return sum
	}, p.call(ctx, "Network.enable", nil, nil)
}

// frameLength is how many bytes a frame holds: text as it is, anything else in base64.
func frameLength(params string) int {
	var told struct {
		Response struct {
			Opcode      int
			PayloadData string
		}
	}
	if json.Unmarshal([]byte(params), &told) != nil {
		return 0
	}
	if told.Response.Opcode == 1 {
		return len(told.Response.PayloadData)
	}
	bytes, err := base64.StdEncoding.DecodeString(told.Response.PayloadData)
	if err != nil {
		return 0
	}
	return len(bytes)
}

// Throttle has HTTP requests and WebSocket handshakes of a watched page take so many ms more, and bodies come at so many bytes a
// second. It does not hold frames of an open WebSocket back by much, and data channels not at all.
func (p *Page) Throttle(ctx context.Context, latency, bytesPerSecond float64) error {
	return p.call(ctx, "Network.emulateNetworkConditions", map[string]any{
		"offline": false, "latency": latency, "downloadThroughput": bytesPerSecond, "uploadThroughput": bytesPerSecond,
	}, nil)
}

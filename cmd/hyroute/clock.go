package main

import (
	"context"
	"sync"
	"time"

	"github.com/hyroute/hyroute/host"
)

// now is milliseconds since 1970, as pages and this program put them into what they send.
func now() float64 { return float64(time.Now().UnixMicro()) / 1000 }

// maxClocks is how many others' clocks are known at once.
const maxClocks = 1024

// timed is what a message may hold beside its content: a text or a number, and when it was sent.
type timed struct {
	Text   *string  `json:"text"`
	Stream *string  `json:"stream"`
	N      *uint64  `json:"n"`
	At     *float64 `json:"at"`
	Clock  *float64 `json:"clock"`
}

// read takes a value apart. It is false for one that is not of that kind.
func read(m *host.Message) (t timed, ok bool) {
	if m.IsBytes() || m.JSON(&t) != nil {
		return timed{}, false
	}
	return t, t.Clock != nil || t.At != nil && (t.Text != nil || t.Stream != nil && t.N != nil)
}

// clocks knows how far the clocks of senders are ahead of ours: without that, nobody can say how long a message took.
type clocks struct {
	mu    sync.Mutex
	ahead map[string]*float64 // nil while it is asked for
}

// delay is how long a message was under way, in ms. It is false until the sender's clock is known, which is asked for.
func (c *clocks) delay(ctx context.Context, r *host.Runtime, from string, at float64) (float64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead, asked := c.ahead[from]
	if !asked {
		if c.ahead == nil || len(c.ahead) >= maxClocks {
			c.ahead = map[string]*float64{}
		}
		c.ahead[from] = nil
		go c.ask(ctx, r, from)
	}
	if ahead == nil {
		return 0, false
	}
	return max(now()-(at-*ahead), 0), true
}

// ask asks a few times: the answer that took the least time knows best.
func (c *clocks) ask(ctx context.Context, r *host.Runtime, of string) {
	best := -1.0
	for range 3 {
		start := now()
		answer, err := r.Request(ctx, of, map[string]float64{"clock": start})
		if err != nil {
			return
		}
		end := now()
		t, ok := read(answer)
		if !ok || t.Clock == nil {
			return
		}
		if took := end - start; best < 0 || took < best {
			best = took
			ahead := *t.Clock - (start+end)/2
			c.mu.Lock()
			c.ahead[of] = &ahead
			c.mu.Unlock()
		}
	}
}

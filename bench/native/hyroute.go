package native

import (
	"context"
	"fmt"
	"sync"

	"github.com/hyroute/hyroute/host"
)

// Of what was sent and is not with its listener yet: so much may be on its way.
const mostMessages, mostBytes = 1024, 1 << 20

// runtime is hyroute on a direct path, by the machine that is linked into this program.
type runtime struct {
	me    *host.Runtime
	other string

	lock  sync.Mutex
	away  [mostMessages]posted // that may not have arrived, the oldest at first
	first int
	count int
	bytes int
}

// posted is a message on its way.
type posted struct {
	sent *host.Sent
	size int
}

func (r *runtime) address() string { return r.me.Address() }

// openHyroute resolves in role a when the path is direct.
func openHyroute(ctx context.Context, o options, receive func(message []byte, direct bool)) (*runtime, error) {
	r := &runtime{other: o.Peer}
	me, err := host.Connect(ctx, fmt.Sprintf("ws://127.0.0.1:%d/ws", o.Port), host.Options{Name: o.Room + "-" + o.Role, Listener: func(m *host.Message) {
		if o.Peer == "" {
			r.other = m.From // before anything is answered, and always the same
		}
		if bytes := m.Bytes(); len(bytes) > 0 {
			receive(bytes, m.Path == host.Direct)
		}
	}})
	if err != nil {
		return nil, err
	}
	r.me = me
	if err := me.Registered(ctx); err != nil {
		return nil, err
	}
	if o.Peer == "" {
		return r, nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	events := me.Events(ctx)
	if err := me.Send(ctx, o.Peer, []byte{}); err != nil {
		return nil, err
	}
	for event := range events {
		if changed, ok := event.(host.PathChanged); ok && changed.Path == host.Direct {
			return r, nil
		}
	}
	return nil, fmt.Errorf("the path did not become direct: %w", ctx.Err())
}

// send waits until the oldest messages have arrived, where too much is on its way.
func (r *runtime) send(message []byte) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	for r.count == mostMessages || r.bytes >= mostBytes {
		oldest := &r.away[r.first]
		if _, err := oldest.sent.Result(); err != nil {
			return err
		}
		r.bytes -= oldest.size
		*oldest = posted{}
		r.first = (r.first + 1) % mostMessages
		r.count--
	}
	r.away[(r.first+r.count)%mostMessages] = posted{r.me.Post(host.Draft{To: r.other, Value: message}), len(message)}
	r.count++
	r.bytes += len(message)
	return nil
}

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
	me      *host.Runtime
	other   string
	settled chan posted // in the order that they were sent in

	lock            sync.Mutex
	room            sync.Cond // for lock
	messages, bytes int
	err             error
}

func (r *runtime) address() string { return r.me.Address() }

// openHyroute resolves in role a when the path is direct.
func openHyroute(ctx context.Context, o options, receive func(message []byte, direct bool)) (*runtime, error) {
	r := &runtime{other: o.Peer, settled: make(chan posted, mostMessages)}
	r.room.L = &r.lock
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
	go r.settle()
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

func (r *runtime) send(message []byte) error {
	r.lock.Lock()
	for r.err == nil && (r.messages >= mostMessages || r.bytes >= mostBytes) {
		r.room.Wait()
	}
	r.messages++
	r.bytes += len(message)
	err := r.err
	r.lock.Unlock()
	if err != nil {
		return err
	}
	sent := r.me.Post(host.Draft{To: r.other, Value: message})
	r.settled <- posted{sent, len(message)}
	return nil
}

// posted is a message on its way.
type posted struct {
	sent *host.Sent
	size int
}

// settle makes room for what has arrived.
func (r *runtime) settle() {
	for p := range r.settled {
		_, err := p.sent.Result()
		r.lock.Lock()
		r.messages--
		r.bytes -= p.size
		if r.err == nil {
			r.err = err
		}
		r.room.Signal()
		r.lock.Unlock()
	}
}

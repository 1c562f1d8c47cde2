//go:build linux

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/stubs"
)

// watcher is a third runtime, which hears from the Domain Registry whether an entity is there.
type watcher struct {
	stub *stubs.Node
	told chan string // live, disconnected
}

// watch has a third runtime subscribe the registration of an entity.
func (st *stage) watch(ctx context.Context, entity string) (*watcher, error) {
	of, err := address.Parse(entity)
	if err != nil {
		return nil, err
	}
	registration, err := address.Parse(entity + "/registration")
	if err != nil {
		return nil, err
	}
	key, err := identity.New()
	if err != nil {
		return nil, err
	}
	self, err := address.Parse("runtime://" + of.Domain() + "/" + key.ID())
	if err != nil {
		return nil, err
	}
	const question = 1
	w := &watcher{told: make(chan string, 64)}
	live, subscribed := make(chan struct{}, 1), make(chan uint64, 1)
	w.stub = stubs.NewNode(stubs.NodeConfig{URL: st.url(), Domain: of.Domain(), Runtime: self, Key: key, Sink: func(e stubs.Event) {
		switch e := e.(type) {
		case stubs.Changed:
			if e.Status == stubs.Live {
				live <- struct{}{}
			}
		case stubs.Answered:
			subscribed <- e.Code
		case stubs.Notified:
			st.note("a third runtime is told that %s is %s", e.Entity, e.Status)
			w.told <- e.Status
		}
	}}, nil)
	w.stub.Connect()
	select {
	case <-live:
	case <-ctx.Done():
		return w, ctx.Err()
	}
	if err := w.stub.Subscribe(question, []address.Address{registration}); err != nil {
		return w, err
	}
	select {
	case code := <-subscribed:
		if code != 200 {
			return w, fmt.Errorf("subscribe %s: %d", registration, code)
		}
		return w, nil
	case <-ctx.Done():
		return w, ctx.Err()
	}
}

// hear waits until the entity is said to be so.
func (w *watcher) hear(status string, within time.Duration) error {
	late := time.After(within)
	for {
		select {
		case now := <-w.told:
			if now == status {
				return nil
			}
		case <-late:
			return fmt.Errorf("within %v no third runtime was told that it is %s", within, status)
		}
	}
}

func (w *watcher) close() {
	w.stub.Close()
	<-w.stub.Done()
}

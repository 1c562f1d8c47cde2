package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyroute/hyroute/host"
	"github.com/hyroute/hyroute/identity"
)

// defaultNode is where `hyroute serve` listens.
const defaultNode = "ws://localhost:8080/ws"

// connection is what listen and send have in common: how to become a runtime.
type connection struct {
	node, domain, name, key, module, trace string
	store                                  string
	relayOnly, loopback, syncStore         bool
	nodes                                  map[string]string
}

func (o *connection) flags(c *cobra.Command, name string) {
	f := c.Flags()
	f.StringVar(&o.node, "node", defaultNode, "WebSocket `URL` of the Message Node")
	f.StringVar(&o.domain, "domain", "", "the node's `domain`, where it is not the host of its URL")
	f.StringToStringVar(&o.nodes, "nodes", nil, "further `domain=URL`s that may be talked to, and where their Message Nodes are")
	f.StringVar(&o.name, name, "", "own `name`: the last part of the own address (default: made of the key)")
	f.StringVar(&o.key, "key", "", "`file` with the own key, made if it is not there: keeps the own address the same (default: a new key)")
	f.StringVar(&o.store, "store", "", "`folder` that keeps the key, what waits, and where each session stands: the next run goes on from there, however this one ends")
	f.BoolVar(&o.syncStore, "sync", false, "with --store: wait for the disk at each step, so that even a loss of power loses nothing")
	f.BoolVar(&o.relayOnly, "relay-only", false, "make no direct connections")
	f.BoolVar(&o.loopback, "loopback", false, "make direct connections within this machine only, which needs no network")
	f.StringVar(&o.module, "module", "", "run the machine from this WebAssembly `file` instead of the one linked in")
	f.StringVar(&o.trace, "trace", "", "write all that the machine is told and answers to this `file`")
}

// connect makes a runtime. closeTrace is to be called when the runtime is closed.
func (o *connection) connect(ctx context.Context, listener host.Listener) (r *host.Runtime, closeTrace func() error, err error) {
	if o.syncStore && o.store == "" {
		return nil, nil, usageError{errors.New("--sync is for a --store")}
	}
	options := host.Options{
		Name: o.name, Domain: o.domain, NoDirect: o.relayOnly, Loopback: o.loopback, Listener: listener, Nodes: o.nodes,
		Store: o.store, SyncStore: o.syncStore,
	}
	if o.key != "" {
		if options.Key, err = identity.LoadOrNew(o.key); err != nil {
			return nil, nil, err
		}
	}
	if o.module != "" {
		if options.Module, err = os.ReadFile(o.module); err != nil {
			return nil, nil, fmt.Errorf("the module: %w", err)
		}
	}
	closeTrace = func() error { return nil }
	if o.trace != "" {
		f, err := os.Create(o.trace)
		if err != nil {
			return nil, nil, fmt.Errorf("the trace: %w", err)
		}
		options.Trace, closeTrace = f, f.Close
	}
	r, err = host.Connect(ctx, o.node, options)
	if err != nil {
		_ = closeTrace() // the first error is the one to tell
		if ctx.Err() != nil {
			return nil, nil, errInterrupted
		}
		return nil, nil, err
	}
	return r, closeTrace, nil
}

// nodeWatch tells a person when the node is lost and found, so that waiting is no riddle.
type nodeWatch struct {
	url  string
	lost time.Time
	say  func(format string, arguments ...any)
}

func (w *nodeWatch) event(n host.NodeChanged) {
	switch n.Status {
	case "disconnected":
		if w.lost.IsZero() {
			w.lost = time.Now()
			w.say("the Message Node at %s is out of reach; trying again (%s)", w.url, reason(n))
		}
	case "failed":
		w.say("the Message Node at %s: %s", w.url, reason(n))
	case "live":
		if !w.lost.IsZero() {
			w.say("the Message Node is back after %s", time.Since(w.lost).Round(time.Second/10))
			w.lost = time.Time{}
		}
	}
}

func reason(n host.NodeChanged) string {
	if n.Err != nil {
		return n.Err.Error()
	}
	return n.Reason
}

package node

import (
	"errors"

	"github.com/hyroute/hyroute/node/engine"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// registryMessage does what a message to the Domain Registry asks for (docs/protocol.md section 3).
func (c *client) registryMessage(e *message.Envelope) {
	request, err := readRegistryBody(e.Body)
	if err != nil {
		c.answerError(e, err)
		return
	}
	runtime := c.session.Load().seat.url
	switch e.Type {
	case message.Create:
		c.answerError(e, c.node.createEntry(runtime, request))
	case message.Read:
		c.answer(e, c.node.readEntries(request))
	case message.Update:
		c.answerError(e, c.node.updateEntry(runtime, request))
	case message.Delete:
		c.answerError(e, c.node.deleteEntry(runtime, request))
	default:
		c.answerError(e, refuse(400, "type: create, read, update or delete is wanted here"))
	}
}

// change changes the entry of a URL, and tells those who wait for it if it came to life or ended.
func (n *Node) change(url address.Address, change func(current *engine.Entry) (*engine.Entry, error)) *refusal {
	var before, after bool
	err := n.config.Engine.Change(url, func(current *engine.Entry) (*engine.Entry, error) {
		next, err := change(current)
		if err != nil {
			return nil, err
		}
		before, after = current != nil && current.Live, next != nil && next.Live
		// In here, so that it fits the change that was last.
		if next == nil {
			n.expiry.forget(url)
		} else {
			n.expiry.watch(url, n.due(next))
		}
		return next, nil
	})
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused
	}
	if errors.Is(err, engine.ErrFull) {
		return refuse(503, "the registry is full")
	}
	if err != nil {
		return refuse(500, "engine: "+err.Error())
	}
	if before != after {
		n.notify(url, after)
	}
	return nil
}

func (n *Node) createEntry(runtime address.Address, r *registryBody) *refusal {
	now := n.config.Clock.Now()
	v, err := r.fields()
	if err != nil {
		return err
	}
	if v.url.IsZero() {
		return refuse(400, "body.value.url: missing")
	}
	if err := n.mayRegister(v.url); err != nil {
		return err
	}
	if v.runtime.IsZero() {
		return refuse(400, "body.value.runtime: missing")
	}
	if v.runtime != runtime {
		return refuse(403, "body.value.runtime: not the one that this socket has opened")
	}
	if id := v.url.ID(); address.IsRuntimeID(id) && id != runtime.ID() {
		return refuse(403, v.url.String()+": the address of another runtime")
	}
	n.mu.Lock()
	other := n.allocations[v.url]
	n.mu.Unlock()
	if other != nil && other.seat.url != runtime {
		return refuse(403, v.url.String()+": allocated for another runtime")
	}
	mine, failed := n.config.Engine.Find(engine.Query{Runtime: runtime})
	if failed != nil {
		return refuse(500, "engine: "+failed.Error())
	}
	return n.change(v.url, func(current *engine.Entry) (*engine.Entry, error) {
		created := now
		switch {
		case current == nil, current.Runtime != runtime && !alive(current, now):
			if len(mine) >= n.config.Limits.Entries {
				return nil, refuse(403, "body: too many entries of one runtime")
			}
		case current.Runtime != runtime:
			return nil, refuse(403, v.url.String()+": a live entry of another runtime")
		default:
			created = current.Created
		}
		next := &engine.Entry{URL: v.url, Runtime: runtime, Live: true, Expires: maxExpires, Created: created, Modified: now}
		return v.apply(next, n.config.Limits.EntrySize)
	})
}

// mayRegister says whether a URL can have an entry here.
func (n *Node) mayRegister(url address.Address) *refusal {
	switch {
	case url.Class() != address.Entity:
		return refuse(400, "body.value.url: not the address of an entity")
	case url.Entity() != url:
		return refuse(400, "body.value.url: a part of an entity; the entry is of "+url.Entity().String())
	case url.Domain() != n.config.Domain:
		return refuse(400, "body.value.url: its domain is not "+n.config.Domain)
	}
	return nil
}

// readEntries is the body of the answer to a read.
func (n *Node) readEntries(r *registryBody) []byte {
	url, refused := r.resource()
	if refused != nil {
		return refused.body("")
	}
	now := n.config.Clock.Now()
	if url.Scheme() == "user" || url.Scheme() == "user-guid" {
		found, err := n.config.Engine.Find(engine.Query{User: r.Resource})
		if err != nil {
			return refuse(500, "engine: "+err.Error()).body("")
		}
		return entriesBody(found, now)
	}
	entry, err := n.config.Engine.Read(url)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return refuse(404, url.String()+": no such entry").body("")
	case err != nil:
		return refuse(500, "engine: "+err.Error()).body("")
	}
	return entryBody(&entry, now)
}

// owned gives a change only to the runtime that owns the entry.
func (n *Node) owned(runtime, url address.Address, change func(current *engine.Entry) (*engine.Entry, error)) *refusal {
	return n.change(url, func(current *engine.Entry) (*engine.Entry, error) {
		if current == nil {
			return nil, refuse(404, url.String()+": no such entry")
		}
		if current.Runtime != runtime {
			return nil, refuse(403, url.String()+": an entry of another runtime")
		}
		return change(current)
	})
}

func (n *Node) updateEntry(runtime address.Address, r *registryBody) *refusal {
	url, err := r.resource()
	if err != nil {
		return err
	}
	v, err := r.fields()
	if err != nil {
		return err
	}
	if !v.url.IsZero() && v.url != url {
		return refuse(400, "body.value.url: not the resource")
	}
	if !v.runtime.IsZero() && v.runtime != runtime {
		return refuse(403, "body.value.runtime: not the one that this socket has opened")
	}
	return n.owned(runtime, url, func(current *engine.Entry) (*engine.Entry, error) {
		next := *current
		next.Live, next.Absent, next.Modified = true, false, n.config.Clock.Now()
		return v.apply(&next, n.config.Limits.EntrySize)
	})
}

func (n *Node) deleteEntry(runtime address.Address, r *registryBody) *refusal {
	url, err := r.resource()
	if err != nil {
		v, wrong := r.fields()
		if wrong != nil || v.url.IsZero() {
			return err
		}
		url = v.url
	}
	return n.owned(runtime, url, func(*engine.Entry) (*engine.Entry, error) { return nil, nil })
}

// registered is the runtime whose live entry an entity has, or zero.
func (n *Node) registered(entity address.Address) (address.Address, *refusal) {
	e, err := n.config.Engine.Read(entity)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return address.Address{}, nil
	case err != nil:
		return address.Address{}, refuse(500, "engine: "+err.Error())
	case !alive(&e, n.config.Clock.Now()):
		return address.Address{}, nil
	}
	return e.Runtime, nil
}

// notify tells the subscribers of <entity>/registration.
func (n *Node) notify(entity address.Address, live bool) {
	body := message.AppendString([]byte(`{"value":`), statusText(live))
	body = append(message.AppendString(append(body, `,"resource":`...), entity.String()), '}')
	to := entity.Join("registration")
	e := message.Envelope{ID: n.messages.Add(1), Type: message.Update, From: n.registry.String(), To: to.String(), Body: body}
	if _, err := n.config.Engine.Publish(to, e.Append(nil)); err != nil {
		n.config.Logger.Error("notification failed", "entity", entity.String(), "error", err)
	}
}

package node

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/message"
)

// envelope does what a binary message asks for (docs/protocol.md section 4).
func (c *client) envelope(b []byte) {
	if c.session.Load() == nil {
		c.badEnvelope("nothing is open on this socket")
		return
	}
	if !c.sessions {
		c.badEnvelope("frames need the subprotocol " + Subprotocol)
		return
	}
	e, err := frame.ReadEnvelope(b)
	switch {
	case err != nil:
		c.badEnvelope(err.Error())
	case e.Kind == frame.KindName:
		c.name(e.Handle, e.Runtime)
	case e.Kind == frame.KindForward:
		c.forward(e.Handle, e.Frame)
	default:
		c.badEnvelope("a NOTICE comes from the node alone")
	}
}

// name notes which runtime the client means by a handle.
func (c *client) name(handle uint64, url string) {
	runtime, err := address.Parse(url)
	if err != nil {
		c.badEnvelope("NAME: " + err.Error())
		return
	}
	if !runtime.IsRuntime() {
		c.badEnvelope("NAME: no runtime URL")
		return
	}
	for uint64(len(c.names)) <= handle {
		c.names = append(c.names, nil)
	}
	if old := c.names[handle]; old == nil || old.url != runtime {
		c.node.leave(old, c, handle)
		c.names[handle] = c.node.use(runtime, c, handle)
	}
}

// forward passes a session frame on, unseen. No lock of the node is held.
func (c *client) forward(handle uint64, f []byte) {
	if handle >= uint64(len(c.names)) || c.names[handle] == nil {
		c.badEnvelope("FORWARD: no NAME for this handle")
		return
	}
	if len(f) > c.node.config.Limits.Frame {
		c.queue.notice(handle, frame.NoticeTooBig, f)
		return
	}
	peer := c.names[handle].client.Load()
	switch {
	case peer == nil:
		c.queue.notice(handle, frame.NoticeNoRuntime, f)
	case !peer.sessions:
		c.queue.notice(handle, frame.NoticeNoSessions, f)
	default:
		switch peer.queue.frame(c.session.Load().seat, f) {
		case full:
			c.queue.notice(handle, frame.NoticeFull, f)
		case ended:
			c.queue.notice(handle, frame.NoticeNoRuntime, f)
		}
	}
}

// badEnvelope answers a binary message that can not be used. A client that goes on sending such is closed.
func (c *client) badEnvelope(desc string) {
	to := c.url()
	if to == "" {
		to = clientURL
	}
	c.post(message.Envelope{Type: message.Response, From: framesURL, To: to, Body: refuse(400, desc).body("")})
	if c.errors++; c.errors >= c.node.config.Limits.Errors {
		c.finish(closeErrors, reasonTooManyEr)
	}
}

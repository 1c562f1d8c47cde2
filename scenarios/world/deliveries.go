package world

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/scenarios/history"
)

// hold keeps a slice of a frame's payload.
func (b *body) hold(e *engine.Hold) {
	payload, ok := b.frames[e.Frame]
	if !ok {
		b.w.fail("balanced-payload", "%s: hold of frame %d, which is not of this step", b.name, e.Frame)
		return
	}
	if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(payload) {
		b.w.fail("valid-numbers", "%s: hold of %d bytes at %d of a payload of %d", b.name, e.Length, e.Offset, len(payload))
		return
	}
	chunks := b.held[e.Session]
	if chunks == nil {
		chunks = map[uint64][]byte{}
		b.held[e.Session] = chunks
	}
	if _, twice := chunks[e.Number]; twice {
		b.w.fail("balanced-payload", "%s: chunk %d of session %d is held already", b.name, e.Number, e.Session)
	}
	chunks[e.Number] = payload[e.Offset : e.Offset+e.Length]
	b.heldBytes += e.Length
}

// take removes chunks from what is held, in order.
func (b *body) take(session, first, last uint64) (content []byte, n int) {
	if first == 0 || last < first || last-first > maxMessage/minContent {
		b.w.fail("valid-numbers", "%s: chunks %d to %d", b.name, first, last)
		return nil, 0
	}
	chunks := b.held[session]
	for i := first; i <= last; i++ {
		c, ok := chunks[i]
		if !ok {
			continue
		}
		delete(chunks, i)
		b.heldBytes -= len(c)
		content = append(content, c...)
		n++
	}
	if len(chunks) == 0 {
		delete(b.held, session)
	}
	return content, n
}

func (b *body) drop(e *engine.Drop) { b.take(e.Session, e.First, e.Last) }

// deliver hands a message to a listener.
func (b *body) deliver(e *engine.Deliver) {
	if e.Delivery == 0 || b.deliveries[e.Delivery] != nil {
		b.w.fail("fresh-numbers", "%s: delivery %d is used already", b.name, e.Delivery)
		return
	}
	h := &handed{refuse: b.listen(e.To)}
	b.deliveries[e.Delivery] = h
	switch {
	case e.Msg != 0:
		p := b.known(e.Msg, "deliver", true)
		if p == nil {
			return
		}
		b.handOver(h, e, p.content)
	case e.JSON != 0:
		m := b.plains[e.JSON]
		if m == nil {
			b.w.fail("json-once", "%s: deliver of JSON message %d, which is not there (any more)", b.name, e.JSON)
			return
		}
		delete(b.plains, e.JSON)
		h.json = e.JSON
		if e.From != m.from || e.To != m.to {
			b.w.fail("same-addresses", "%s: JSON message from %s to %s is delivered from %s to %s", b.name, m.from, m.to, e.From, e.To)
		}
		if m.content != nil {
			b.handOver(h, e, m.content)
		}
	default:
		content, n := b.take(e.Session, e.First, e.Last)
		if n == 0 {
			b.w.fail("balanced-payload", "%s: deliver of chunks %d to %d of session %d, which are not held", b.name, e.First, e.Last, e.Session)
			return
		}
		b.handOver(h, e, content)
	}
	b.answerDelivery(e.Delivery, h)
}

// listen says why nobody can take a message to this address now, and blames the machine if it must have known.
func (b *body) listen(to address.Address) string {
	known := false
	for _, e := range b.endpoints {
		if e.address != to {
			continue
		}
		if e.present {
			return ""
		}
		known = known || e.told
	}
	if !known {
		b.w.fail("registered-only", "%s: delivers to %s, where nobody listens", b.name, to)
	}
	return "no-listener"
}

// handOver checks the content byte by byte and logs the delivery.
func (b *body) handOver(h *handed, e *engine.Deliver, content []byte) {
	id, whole := identify(content)
	if !whole {
		b.w.fail("content-whole", "%s: %d bytes delivered to %s that nobody posted (said to be of %s)", b.name, len(content), e.To, id)
		return
	}
	if h.refuse == "" && b.slow == 3 {
		h.refuse = "unsupported-payload"
	}
	kind := history.Delivered
	if h.refuse != "" {
		kind = history.Refused
	} else if e.JSON == 0 {
		b.inHand[e.Delivery] = id.String()
	}
	b.w.log(history.Record{
		End: b.url.String(), Kind: kind, Message: id.String(), From: e.From.String(), To: e.To.String(), Path: e.Path, Session: e.Session,
	})
}

// answerDelivery is the listener: it takes the message, at once or later, or refuses it.
func (b *body) answerDelivery(id uint64, h *handed) {
	life := b.life
	answer := func() {
		if b.life != life || b.deliveries[id] != h {
			return
		}
		delete(b.deliveries, id)
		if h.refuse != "" {
			if h.json != 0 {
				b.returned[h.json] = true
			}
			b.tell(&engine.DeliveryRefused{Delivery: id, Reason: h.refuse})
			return
		}
		b.tell(&engine.DeliveryTaken{Delivery: id})
	}
	switch b.slow {
	case 1:
		b.w.after(uint64(b.chance.between(1, 400)), answer)
	case 2:
		b.w.at(b.slowUntil+uint64(b.chance.below(50)), answer)
	default:
		b.w.after(0, answer)
	}
}

// discard forgets a JSON message that nobody wants; one that a listener refused comes back once as discarded, for its answer.
func (b *body) discard(e *engine.Discard) {
	_, refused := b.returned[e.JSON]
	delete(b.returned, e.JSON)
	if b.plains[e.JSON] == nil && !refused {
		b.w.fail("json-once", "%s: discard of JSON message %d, which is not there (any more)", b.name, e.JSON)
	}
	if e.Reason != "no-listener" && e.Reason != "not-bound" && !refused {
		b.w.fail("known-words", "%s: discard because of %q", b.name, e.Reason)
	}
	delete(b.plains, e.JSON)
}

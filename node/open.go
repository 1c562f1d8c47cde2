package node

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// handshake is the node's first message to a client that speaks sessions.
func (c *client) handshake() {
	body := message.AppendString([]byte(`{"nonce":`), c.nonce)
	body = message.AppendString(append(body, `,"domain":`...), c.node.config.Domain)
	c.post(message.Envelope{Type: message.Handshake, From: sessionURL, To: clientURL, Body: append(body, '}')})
}

// sessionMessage does what a message to mn:/session asks for.
func (c *client) sessionMessage(e *message.Envelope) {
	var err *refusal
	switch e.Type {
	case message.Open, message.ReOpen:
		err = c.open(e)
	case message.Close:
		if err = c.close(e); err == nil {
			return
		}
	default:
		err = refuse(400, "type: open, re-open or close is wanted here")
	}
	switch {
	case err == nil:
	case err.code == 401:
		c.answer(e, err.body(string(message.AppendString([]byte(`,"nonce":`), c.nonce))))
	default:
		c.answer(e, err.body(""))
	}
}

type openBody struct {
	Key       string `json:"key"`
	Signature string `json:"signature"`
	Nonce     string `json:"nonce"`
}

// open opens or re-opens a runtime on this socket, and answers if it does.
func (c *client) open(e *message.Envelope) *refusal {
	from, err := address.Parse(e.From)
	if err != nil {
		return refuse(400, "from: "+err.Error())
	}
	runtime, token := from, ""
	if e.Type == message.ReOpen {
		runtime = from.Entity()
		token = from.String()[len(runtime.String()):]
	}
	if !runtime.IsRuntime() {
		return refuse(400, "from: no runtime URL")
	}
	var body openBody
	if len(e.Body) > 0 {
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return refuse(400, wrongField(err))
		}
	}
	if s := c.session.Load(); s != nil && s.seat.url != runtime {
		return refuse(403, "from: this socket has opened "+s.seat.url.String())
	}
	signed := body.Key != "" || body.Signature != ""
	if signed {
		if err := c.verify(body, runtime); err != nil {
			return err
		}
	}
	if e.Type == message.ReOpen {
		return c.reopen(e, runtime, token, signed)
	}
	return c.openNew(e, runtime, signed)
}

func (c *client) verify(b openBody, runtime address.Address) *refusal {
	proof := identity.Proof{Key: b.Key, Signature: b.Signature, Nonce: b.Nonce}
	err := identity.VerifyOpen(proof, c.nonce, runtime, c.node.config.Domain)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, identity.ErrOtherNonce), errors.Is(err, identity.ErrSignature):
		return refuse(401, err.Error())
	case errors.Is(err, identity.ErrOtherKey):
		return refuse(403, err.Error())
	}
	return refuse(400, err.Error())
}

// openNew makes a session. It takes over from a socket that has opened the same runtime, if there is a proof.
func (c *client) openNew(e *message.Envelope, runtime address.Address, signed bool) *refusal {
	n := c.node
	n.mu.Lock()
	place := n.seat(runtime)
	old, elder := place.session, place.client.Load()
	if err := n.mayOpen(c, place, signed); err != nil {
		n.drop(place)
		n.mu.Unlock()
		return err
	}
	if elder == c {
		// Said twice on one socket: the session stands as it is.
		n.mu.Unlock()
		c.answer(e, c.openedBody(runtime, old.token))
		return nil
	}
	s := &session{
		node: n, seat: place, token: newToken(), signed: signed,
		subs: map[address.Address]struct{}{}, allocated: map[address.Address]string{},
	}
	place.session = s
	c.session.Store(s)
	c.seated(e, place, s.token)
	n.mu.Unlock()
	if old != nil {
		old.end()
	}
	if elder != nil {
		elder.finish(closeReplaced, reasonReplaced)
	}
	n.config.Logger.Debug("runtime opened", "runtime", runtime.String(), "signed", signed)
	return nil
}

// seated gives the seat to this client, and answers. Node.mu is held.
func (c *client) seated(e *message.Envelope, place *seat, token string) {
	answer := message.Envelope{ID: e.ID, Type: message.Response, From: e.To, To: e.From, Body: c.openedBody(place.url, token)}
	c.queue.textFirst(answer.Append(nil), func() { place.client.Store(c) })
}

// mayOpen decides an open. Node.mu is held.
func (n *Node) mayOpen(c *client, place *seat, signed bool) *refusal {
	elder := place.client.Load()
	switch {
	case n.closed:
		return refuse(503, "the node goes away")
	case signed || elder == c:
		return nil
	case elder != nil:
		return refuse(409, "open already, and no proof that it is yours")
	case !n.config.AllowUnsigned:
		return refuse(401, "signature: missing")
	case place.session != nil && place.session.signed, address.IsRuntimeID(place.url.ID()):
		return refuse(401, "signature: missing, and only the key can open this runtime")
	}
	return nil
}

// reopen gives this socket the session that another one had.
func (c *client) reopen(e *message.Envelope, runtime address.Address, token string, signed bool) *refusal {
	n := c.node
	n.mu.Lock()
	place := n.seats[runtime]
	var s *session
	if place != nil {
		s = place.session
	}
	if s == nil || n.closed || subtle.ConstantTimeCompare([]byte(token), []byte("/"+s.token)) != 1 {
		n.mu.Unlock()
		return refuse(500, "Reconnection fail. Incorrect runtime token!")
	}
	if s.signed && !signed {
		n.mu.Unlock()
		return refuse(401, "signature: missing")
	}
	c.session.Store(s)
	elder := place.client.Load()
	s.present()
	c.seated(e, place, "")
	n.mu.Unlock()
	if elder != nil && elder != c {
		elder.finish(closeReplaced, reasonReplaced)
	}
	n.returned(runtime)
	n.config.Logger.Debug("runtime re-opened", "runtime", runtime.String())
	return nil
}

// close ends the session of this socket, and the socket. There is no answer.
func (c *client) close(e *message.Envelope) *refusal {
	s := c.session.Load()
	if s == nil {
		return refuse(403, "from: nothing is open on this socket")
	}
	from, err := address.Parse(e.From)
	if err != nil {
		return refuse(400, "from: "+err.Error())
	}
	if !from.Within(s.seat.url) {
		return refuse(403, "from: this socket has opened "+s.seat.url.String())
	}
	n := c.node
	n.mu.Lock()
	mine := s.seat.client.CompareAndSwap(c, nil)
	if mine {
		s.seat.vacate()
		s.seat.session = nil
		n.drop(s.seat)
	}
	n.mu.Unlock()
	if mine {
		s.end()
		n.removeEntries(s.seat.url)
	}
	c.finish(closeByClient, reasonByClient)
	return nil
}

// openedBody is the body of the answer to an open, or without a token to a re-open.
func (c *client) openedBody(runtime address.Address, token string) []byte {
	b := []byte(`{"code":200`)
	if token != "" {
		b = message.AppendString(append(b, `,"runtimeToken":`...), token)
	}
	b = message.AppendString(append(b, `,"domain":`...), c.node.config.Domain)
	return append(c.appendICE(b, runtime), '}')
}

// newToken draws a UUID of version 4.
func newToken() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// wrongField says which field of a body could not be read.
func wrongField(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && t.Field != "" {
		return "body." + t.Field + ": can not be a " + t.Value
	}
	return "body: " + err.Error()
}

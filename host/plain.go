package host

import (
	"encoding/json"
	"strconv"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/message"
)

// plainBody is the body of the JSON form of a content.
func plainBody(c *message.Content) []byte {
	b := []byte{'{'}
	if c.Response {
		b = append(b, `"code":`...)
		b = strconv.AppendUint(b, c.Code, 10)
		b = append(b, ',')
	}
	b = append(b, `"value":`...)
	if c.Form == message.Text {
		b = message.AppendString(b, string(c.Body))
	} else {
		b = append(b, c.Body...)
	}
	return append(b, '}')
}

// asks says whether somebody may wait for an answer to such a message of the JSON world.
func asks(t message.Type) bool {
	switch t {
	case message.Create, message.Read, message.Update, message.Delete, message.Subscribe, message.Unsubscribe, message.Execute:
		return true
	}
	return false
}

// contentOf makes a content of a JSON message: its value is what stands under "value" in the body, or else the whole body.
func contentOf(e message.Envelope) message.Content {
	c := message.Content{Form: message.JSON, Type: e.Type, ID: e.ID, Body: []byte("null"), Request: asks(e.Type)}
	var body struct {
		Value json.RawMessage `json:"value"`
		Code  uint64          `json:"code"`
	}
	if len(e.Body) > 0 {
		c.Body = e.Body
		// What is no object, or has a code that is no number, stays as it is.
		if err := json.Unmarshal(e.Body, &body); err == nil && body.Value != nil {
			c.Body = body.Value
		}
	}
	if e.Type == message.Response {
		if c.Response, c.Code = true, body.Code; c.Code == 0 {
			c.Code = 500
		}
	}
	var text string
	if len(c.Body) > 0 && c.Body[0] == '"' && json.Unmarshal(c.Body, &text) == nil {
		c.Form, c.Body = message.Text, []byte(text)
	}
	return c
}

// plainIn is a JSON message that came in.
type plainIn struct {
	stub     uint64
	envelope message.Envelope
}

// discard answers a request that nobody here takes, and forgets it.
func (l *loop) discard(e *engine.Discard) {
	in, ok := l.plain[e.JSON]
	delete(l.plain, e.JSON)
	n := l.nodes[in.stub]
	unanswered := e.Reason == "echo" || e.Reason == "too-many"
	if !ok || n == nil || unanswered || !asks(in.envelope.Type) {
		return
	}
	code, why := 404, "nobody listens at this address"
	if e.Reason == "not-bound" {
		code, why = 403, "the sender's address is not known to be that of its runtime"
	}
	b := append([]byte(`{"code":`), strconv.Itoa(code)...)
	b = append(b, `,"desc":`...)
	b = message.AppendString(b, why)
	b = append(b, `,"description":`...)
	b = append(message.AppendString(b, why), '}')
	answer := message.Envelope{ID: in.envelope.ID, Type: message.Response, From: in.envelope.To, To: in.envelope.From, Body: b}
	if err := n.stub.Send(answer); err != nil {
		l.problem("answer to " + in.envelope.From + ": " + err.Error())
	}
}

package host

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"unicode/utf8"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/message"
)

// Path is how a message came or went.
type Path string

// The paths.
const (
	Local  Path = "local"  // within this runtime
	Relay  Path = "relay"  // through a Message Node
	Direct Path = "direct" // on a peer connection
)

// Message is one that came in.
type Message struct {
	From string // the sender's address; it is proven to be the sender's
	To   string // an address that is registered here
	Path Path
	Type string // what it is for in the JSON world ("create", "read", ...); mostly empty
	Code uint64 // of an answer: 200 and the like, as in HTTP

	content  message.Content
	plain    bool // it came as JSON, and so does the answer
	runtime  *Runtime
	endpoint *Endpoint
	delivery engine.DeliveryTaken // by the machine's number
	taken    atomic.Bool
}

// Taken says that the message was handled, so that it does not come again. It is needed only with Options.Store, where somebody wants
// to say so before the listener returns or Receive is called again: it returns when that is stored.
func (m *Message) Taken() {
	if m.endpoint != nil {
		m.endpoint.take(m)
	}
}

// WantsReply says whether the sender waits for an answer.
func (m *Message) WantsReply() bool { return m.content.Request }

// Text is the value as text: a string as it is, JSON as it is written, bytes as if they were UTF-8.
func (m *Message) Text() string { return string(m.content.Body) }

// Bytes is the value as bytes. They belong to the caller.
func (m *Message) Bytes() []byte { return m.content.Body }

// IsBytes says whether the value was sent as bytes, and not as text or JSON.
func (m *Message) IsBytes() bool { return m.content.Form == message.Bytes }

// JSON reads the value into v, as json.Unmarshal does. A value that was sent as text is a JSON string, and one sent as bytes is an error.
func (m *Message) JSON(v any) error {
	switch m.content.Form {
	case message.Text:
		text, err := json.Marshal(string(m.content.Body))
		if err != nil {
			return err
		}
		return json.Unmarshal(text, v)
	case message.JSON:
		return json.Unmarshal(m.content.Body, v)
	}
	return &Error{Code: UnsupportedPayload, Err: fmt.Errorf("a message from %s holds bytes, not JSON", m.From)}
}

// Value is a string, a []byte, or what json.Unmarshal makes of JSON.
func (m *Message) Value() any {
	switch m.content.Form {
	case message.Text:
		return m.Text()
	case message.Bytes:
		return m.content.Body
	}
	var v any
	if json.Unmarshal(m.content.Body, &v) != nil {
		return nil // not reached: what is no JSON is refused when it comes in
	}
	return v
}

// Reply answers with a value, as Draft.Value. A request is answered once; a message that is no request is answered with a message to
// its sender. It does not wait: the Sent says what becomes of the answer.
func (m *Message) Reply(value any) *Sent { return m.ReplyCode(200, value) }

// ReplyCode answers with a code. One of 400 or above makes the request of the sender fail.
func (m *Message) ReplyCode(code uint64, value any) *Sent {
	d := Draft{From: m.To, To: m.From, Value: value}
	if !m.content.Request {
		return m.runtime.Post(d)
	}
	return m.runtime.post(d, func(c *message.Content, p *posted) {
		c.Type, c.Response, c.ID, c.Code = message.Response, true, m.content.ID, code
		p.event.Plain = m.plain
	})
}

// encode makes form and body of a value.
func encode(value any) (message.Form, []byte, error) {
	switch v := value.(type) {
	case string:
		if !utf8.ValidString(v) {
			return 0, nil, &Error{Code: UnsupportedPayload, Err: fmt.Errorf("a string that is not UTF-8: send it as []byte")}
		}
		return message.Text, []byte(v), nil
	case []byte:
		return message.Bytes, v, nil
	case json.RawMessage:
		return message.JSON, v, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return 0, nil, &Error{Code: UnsupportedPayload, Err: err}
	}
	return message.JSON, text, nil
}

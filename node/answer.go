package node

import (
	"strconv"
	"strings"

	"github.com/hyroute/hyroute/runtime/message"
)

// Addresses of the node's own parts.
const (
	sessionURL   = "mn:/session"
	validatorURL = "mn:/validator"
	framesURL    = "mn:/frames"
	clientURL    = "mn:/client" // a client that did not say who it is
)

// A refusal is an answer other than 200.
type refusal struct {
	code int
	desc string
}

func (r *refusal) Error() string { return strconv.Itoa(r.code) + " " + r.desc }

func refuse(code int, desc string) *refusal { return &refusal{code: code, desc: desc} }

// body is the refusal as the body of an answer. more is further JSON members.
func (r *refusal) body(more string) []byte {
	b := append(make([]byte, 0, 64+2*len(r.desc)), `{"code":`...)
	b = strconv.AppendInt(b, int64(r.code), 10)
	b = message.AppendString(append(b, `,"desc":`...), r.desc)
	b = message.AppendString(append(b, `,"description":`...), r.desc)
	return append(append(b, more...), '}')
}

var okBody = []byte(`{"code":200}`)

// answer answers e on this socket.
func (c *client) answer(e *message.Envelope, body []byte) {
	c.post(message.Envelope{ID: e.ID, Type: message.Response, From: e.To, To: e.From, Body: body})
}

// answerError answers e with 200, or with what is wrong.
func (c *client) answerError(e *message.Envelope, err *refusal) {
	if err != nil {
		c.answer(e, err.body(""))
		return
	}
	c.answer(e, okBody)
}

// invalid answers what can not be read. field is left out where the text says it.
func (c *client) invalid(e *message.Envelope, desc string) {
	to := e.From
	if to == "" {
		to = clientURL
	}
	c.post(message.Envelope{ID: e.ID, Type: message.Response, From: validatorURL, To: to, Body: refuse(400, desc).body("")})
}

// trimPackage is the text of an error without the name of the package that it comes from.
func trimPackage(err error) string {
	_, text, _ := strings.Cut(err.Error(), ": ")
	return text
}

// Package driver is what the drivers of browsers have in common: a process with a profile of its own, questions and
// events in JSON, and answers in place of a server.
package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Connection asks a browser, and hears from it, in the JSON that the Chrome DevTools Protocol and WebDriver BiDi share. Its
// methods are safe for concurrent use.
type Connection struct {
	browser string // its name in errors
	write   func(message []byte) error

	writing sync.Mutex

	lock     sync.Mutex
	last     int
	calls    map[int]chan reply
	sessions map[string]func(method string, params json.RawMessage)
	gone     bool
}

type request struct {
	ID        int    `json:"id"`
	Method    string `json:"method"`
	Params    any    `json:"params,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// reply is an answer or an event. A failed call has an object with a message in CDP, a code and a message beside it in BiDi.
type reply struct {
	ID      int             `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`

	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	SessionID string          `json:"sessionId"`
}

func (r *reply) failure() string {
	var object struct{ Message string }
	if json.Unmarshal(r.Error, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(r.Error) + " " + r.Message
}

// NewConnection is a connection to a browser of that name, which write gives one message at a time.
func NewConnection(browser string, write func(message []byte) error) *Connection {
	return &Connection{
		browser: browser, write: write,
		calls: map[int]chan reply{}, sessions: map[string]func(string, json.RawMessage){},
	}
}

// Read takes what the browser says until next fails; then all calls fail. Events reach their session's function in order,
// on this goroutine: it must not wait for a call.
func (c *Connection) Read(next func() (message []byte, err error)) {
	defer c.end()
	for {
		message, err := next()
		if err != nil {
			return
		}
		var r reply
		if err := json.Unmarshal(message, &r); err != nil {
			return
		}
		c.lock.Lock()
		call, event := c.calls[r.ID], c.sessions[r.SessionID]
		delete(c.calls, r.ID)
		c.lock.Unlock()
		switch {
		case r.ID != 0 && call != nil:
			call <- r
		case r.ID == 0 && event != nil:
			event(r.Method, r.Params)
		}
	}
}

func (c *Connection) end() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.gone = true
	for id, call := range c.calls {
		delete(c.calls, id)
		close(call)
	}
}

func (c *Connection) ended() error { return errors.New(c.browser + ": the browser has ended") }

// Call asks and waits for the answer, which is read into result unless that is nil. The session is empty where the
// protocol has none.
func (c *Connection) Call(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan reply, 1)
	c.lock.Lock()
	if c.gone {
		c.lock.Unlock()
		return c.ended()
	}
	c.last++
	id := c.last
	c.calls[id] = answer
	c.lock.Unlock()

	message, err := json.Marshal(request{id, method, params, session})
	if err == nil {
		c.writing.Lock()
		err = c.write(message)
		c.writing.Unlock()
	}
	if err != nil {
		c.forget(id)
		return fmt.Errorf("%s: %s: %w", c.browser, method, err)
	}
	select {
	case r, ok := <-answer:
		switch {
		case !ok:
			return c.ended()
		case r.Error != nil:
			return fmt.Errorf("%s: %s: %s", c.browser, method, r.failure())
		case result == nil:
			return nil
		}
		return json.Unmarshal(r.Result, result)
	case <-ctx.Done():
		c.forget(id)
		return fmt.Errorf("%s: %s: %w", c.browser, method, ctx.Err())
	}
}

func (c *Connection) forget(id int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.calls, id)
}

// Listen has event called with the events of a session from now on; nil ends that.
func (c *Connection) Listen(session string, event func(method string, params json.RawMessage)) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if event == nil {
		delete(c.sessions, session)
		return
	}
	c.sessions[session] = event
}

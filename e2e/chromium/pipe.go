// Package chromium drives a headless Chromium over its debugging pipe.
//
// It switches on no more of the protocol than a run asks for: a driver that enables the Network domain is told of every
// WebSocket frame, and so slows down what it measures.
package chromium

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errGone is what calls get after the browser has ended.
var errGone = errors.New("chromium: the browser has ended")

// pipe is the protocol: JSON objects that end with a zero byte, in both directions.
type pipe struct {
	writing sync.Mutex
	out     io.WriteCloser

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

type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`

	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	SessionID string          `json:"sessionId"`
}

func newPipe(out io.WriteCloser) *pipe {
	return &pipe{out: out, calls: map[int]chan reply{}, sessions: map[string]func(string, json.RawMessage){}}
}

// read takes what the browser says until it says no more. Events reach their session's function in order, on this
// goroutine: it must not wait for a call.
func (p *pipe) read(in io.Reader) {
	defer p.end()
	for r := bufio.NewReaderSize(in, 1<<20); ; {
		message, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m reply
		if err := json.Unmarshal(message[:len(message)-1], &m); err != nil {
			return
		}
		p.lock.Lock()
		call, event := p.calls[m.ID], p.sessions[m.SessionID]
		delete(p.calls, m.ID)
		p.lock.Unlock()
		switch {
		case m.ID != 0 && call != nil:
			call <- m
		case m.ID == 0 && event != nil:
			event(m.Method, m.Params)
		}
	}
}

func (p *pipe) end() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.gone = true
	for id, call := range p.calls {
		delete(p.calls, id)
		close(call)
	}
}

// call asks and waits for the answer, which is read into result unless that is nil.
func (p *pipe) call(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan reply, 1)
	p.lock.Lock()
	if p.gone {
		p.lock.Unlock()
		return errGone
	}
	p.last++
	id := p.last
	p.calls[id] = answer
	p.lock.Unlock()

	message, err := json.Marshal(request{id, method, params, session})
	if err != nil {
		return fmt.Errorf("chromium: %s: %w", method, err)
	}
	p.writing.Lock()
	_, err = p.out.Write(append(message, 0))
	p.writing.Unlock()
	if err != nil {
		return fmt.Errorf("chromium: %s: %w", method, err)
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return errGone
		case m.Error != nil:
			return fmt.Errorf("chromium: %s: %s", method, m.Error.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-ctx.Done():
		p.lock.Lock()
		delete(p.calls, id)
		p.lock.Unlock()
		return fmt.Errorf("chromium: %s: %w", method, ctx.Err())
	}
}

func (p *pipe) listen(session string, event func(method string, params json.RawMessage)) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if event == nil {
		delete(p.sessions, session)
		return
	}
	p.sessions[session] = event
}

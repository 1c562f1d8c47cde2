// Command peer is a native end of the end-to-end runs: package host and nothing else, driven by JSON lines on standard
// input. It knows the same calls as the page, answers on standard output, and ends when its input does.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// call is a line that comes in.
type call struct {
	ID        int               `json:"id"`
	Call      string            `json:"call"`
	Arguments []json.RawMessage `json:"arguments"`
}

// line is a line that goes out: an answer, or an event.
type line struct {
	ID     int    `json:"id,omitempty"`
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
	Event  *event `json:"event,omitempty"`
}

type event struct {
	Name  string `json:"name"`
	Count int    `json:"count,omitempty"`
	Text  string `json:"text,omitempty"`
}

// output writes lines whole.
type output struct {
	lock sync.Mutex
	to   io.Writer
}

func (o *output) write(l line) {
	o.lock.Lock()
	defer o.lock.Unlock()
	raw, err := json.Marshal(l)
	if err != nil {
		raw, _ = json.Marshal(line{ID: l.ID, Error: err.Error()})
	}
	o.to.Write(append(raw, '\n'))
}

func (o *output) tell(e event) { o.write(line{Event: &e}) }

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

// serve answers calls until the input ends. Calls run side by side: a stream takes as long as it takes.
func serve(in io.Reader, out io.Writer) error {
	o := &output{to: out}
	e, err := newEnd(o.tell)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var calls sync.WaitGroup
	var failed error
	for lines := json.NewDecoder(bufio.NewReader(in)); ; {
		var c call
		if err := lines.Decode(&c); err != nil {
			if !errors.Is(err, io.EOF) {
				failed = fmt.Errorf("read a call: %w", err)
			}
			break
		}
		calls.Go(func() {
			result, err := e.call(ctx, c)
			if err != nil {
				o.write(line{ID: c.ID, Error: err.Error()})
				return
			}
			o.write(line{ID: c.ID, Result: result})
		})
	}
	stop()
	calls.Wait()
	return errors.Join(failed, e.close())
}

//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/hyroute/hyroute/bench/native"
)

// native is an end that is a process: this program again, driven by JSON lines.
type nativeEnd struct {
	command *exec.Cmd
	in      io.WriteCloser

	lock  sync.Mutex
	last  int
	calls map[int]chan answer
}

type call struct {
	ID       int             `json:"id"`
	Function string          `json:"function"`
	Argument json.RawMessage `json:"argument,omitempty"`
}

type answer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func startNative(ctx context.Context, subject string) (*nativeEnd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, "-native", subject)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is left to the runner
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start a native end: %w", err)
	}
	n := &nativeEnd{command: command, in: in, calls: map[int]chan answer{}}
	go n.read(out)
	return n, nil
}

func (n *nativeEnd) read(out io.Reader) {
	for lines := json.NewDecoder(bufio.NewReader(out)); ; {
		var a answer
		err := lines.Decode(&a)
		n.lock.Lock()
		if err != nil {
			for id, waits := range n.calls {
				delete(n.calls, id)
				waits <- answer{Error: "the native end has ended"}
			}
			n.calls = nil
			n.lock.Unlock()
			return
		}
		waits := n.calls[a.ID]
		delete(n.calls, a.ID)
		n.lock.Unlock()
		if waits != nil {
			waits <- a
		}
	}
}

// Call calls a function of package native's End, which takes one argument at most.
func (n *nativeEnd) Call(ctx context.Context, function string, result any, arguments ...any) error {
	c := call{Function: function}
	var err error
	if len(arguments) > 0 {
		if c.Argument, err = json.Marshal(arguments[0]); err != nil {
			return err
		}
	}
	waits := make(chan answer, 1)
	n.lock.Lock()
	if n.calls == nil {
		n.lock.Unlock()
		return errors.New("the native end has ended")
	}
	n.last++
	c.ID = n.last
	n.calls[c.ID] = waits
	n.lock.Unlock()
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%s: %w", function, err)
	}
	select {
	case a := <-waits:
		if a.Error != "" {
			return fmt.Errorf("%s: %s", function, a.Error)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", function, ctx.Err())
	}
}

// Close ends the process and waits for it.
func (n *nativeEnd) Close(context.Context) error {
	err := n.command.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	n.command.Wait()
	return err
}

// beNative is this program as a native end. Calls are answered in the order that they end in.
func beNative(ctx context.Context, subject string, in io.Reader, out io.Writer) error {
	end := native.New(subject)
	var writing sync.Mutex
	var calls sync.WaitGroup
	defer calls.Wait()
	for lines := json.NewDecoder(bufio.NewReader(in)); ; {
		var c call
		if err := lines.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a call: %w", err)
		}
		calls.Go(func() {
			a := answer{ID: c.ID}
			result, err := end.Call(ctx, c.Function, c.Argument)
			if err == nil {
				a.Result, err = json.Marshal(result)
			}
			if err != nil {
				a.Error = err.Error()
			}
			line, err := json.Marshal(a)
			if err != nil {
				return // the result was marshalled above
			}
			writing.Lock()
			defer writing.Unlock()
			out.Write(append(line, '\n'))
		})
	}
}

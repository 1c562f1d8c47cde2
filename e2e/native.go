//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// native is a peer that is a program. It speaks JSON lines: calls on its standard input, answers and events on its output.
type native struct {
	command *exec.Cmd
	in      io.WriteCloser
	logged  tail

	lock  sync.Mutex
	last  int
	calls map[int]chan answer
	gone  bool
}

type answer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  string          `json:"error"`
	Event  json.RawMessage `json:"event"`
}

func startNative(command *exec.Cmd, told *news) (*native, error) {
	n := &native{command: command, calls: map[int]chan answer{}}
	n.command.Stderr = &n.logged
	// A group of its own: Ctrl-C is left to the runner, which ends it.
	n.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	n.command.WaitDelay = 5 * time.Second
	in, err := n.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := n.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	n.in = in
	if err := n.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	go n.read(out, told)
	return n, nil
}

func (n *native) read(out io.Reader, told *news) {
	for r := bufio.NewReaderSize(out, 1<<20); ; {
		raw, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var a answer
		if err := json.Unmarshal(raw, &a); err != nil {
			fmt.Fprintf(&n.logged, "no line of the peer's protocol: %s", raw)
			continue
		}
		if a.Event != nil {
			told.tell(a.Event)
			continue
		}
		n.lock.Lock()
		call := n.calls[a.ID]
		delete(n.calls, a.ID)
		n.lock.Unlock()
		if call != nil {
			call <- a
		}
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	n.gone = true
	for id, call := range n.calls {
		delete(n.calls, id)
		close(call)
	}
}

func (n *native) call(ctx context.Context, method string, result any, arguments ...any) error {
	back := make(chan answer, 1)
	n.lock.Lock()
	if n.gone {
		n.lock.Unlock()
		return errors.New("the peer has ended")
	}
	n.last++
	id := n.last
	n.calls[id] = back
	request, err := json.Marshal(map[string]any{"id": id, "call": method, "arguments": arguments})
	if err == nil {
		_, err = n.in.Write(append(request, '\n'))
	}
	n.lock.Unlock()
	if err != nil {
		return err
	}
	select {
	case a, ok := <-back:
		switch {
		case !ok:
			return errors.New("the peer has ended")
		case a.Error != "":
			return errors.New(a.Error)
		case result == nil:
			return nil
		}
		return json.Unmarshal(a.Result, result)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close lets the peer go by closing its input, and kills it if it does not.
func (n *native) close() error {
	err := n.in.Close()
	timer := time.AfterFunc(5*time.Second, func() {
		fmt.Fprintln(&n.logged, "killed: it did not end when its input did")
		n.command.Process.Kill()
	})
	defer timer.Stop()
	return errors.Join(err, n.command.Wait())
}

func (n *native) log() string { return n.logged.String() }

func (n *native) group() int { return n.command.Process.Pid }

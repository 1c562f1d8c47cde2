//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/hyroute/hyroute/e2e/lan"
)

// server is a Message Node, which can be ended and started again.
type server struct {
	stage     *stage
	address   string
	arguments []string // beside where it listens
	command   *exec.Cmd
}

func (st *stage) newServer(address string, arguments ...string) *server {
	return &server{stage: st, address: address, arguments: arguments}
}

// start returns when it listens.
func (s *server) start(ctx context.Context) error {
	arguments := append([]string{"serve", "--listen", s.address, "--web", s.stage.settings.web}, s.arguments...)
	command := exec.CommandContext(s.stage.alive, s.stage.settings.hyroute, arguments...)
	command.Stdout, command.Stderr = &s.stage.nodeLog, &s.stage.nodeLog
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start the node: %w", err)
	}
	s.command = command
	if err := lan.Listening(ctx, s.address); err != nil {
		return errors.Join(err, s.stop())
	}
	return nil
}

// stop ends it as a service manager would.
func (s *server) stop() error {
	command := s.command
	if command == nil {
		return nil
	}
	s.command = nil
	var err error
	if alive := command.Process.Signal(syscall.SIGTERM); alive != nil {
		err = fmt.Errorf("the node: %w", alive)
	}
	kill := time.AfterFunc(15*time.Second, func() { command.Process.Kill() })
	defer kill.Stop()
	if ended := command.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("the node: %w", ended))
	}
	return err
}

// kill ends it as a crash does: nothing is said to anybody.
func (s *server) kill() error {
	command := s.command
	s.command = nil
	if err := command.Process.Kill(); err != nil {
		return fmt.Errorf("the node: %w", err)
	}
	var exit *exec.ExitError
	if err := command.Wait(); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("the node: %w", err)
	}
	return nil
}

// again kills it, and starts it after a while with nothing in its memory. It says how long it was away.
func (s *server) again(ctx context.Context, after time.Duration) (away span, err error) {
	away.from = s.stage.since()
	s.stage.note("the node at %s dies", s.address)
	if err := s.kill(); err != nil {
		return away, err
	}
	select {
	case <-time.After(after):
	case <-ctx.Done():
		return away, ctx.Err()
	}
	err = s.start(ctx)
	away.to = s.stage.since()
	s.stage.note("the node at %s is back", s.address)
	return away, err
}

// renew starts it again with other arguments.
func (s *server) renew(ctx context.Context, arguments ...string) error {
	s.arguments = arguments
	return errors.Join(s.stop(), s.start(ctx))
}

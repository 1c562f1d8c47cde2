//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/hyroute/hyroute/bench/nats"
	"github.com/hyroute/hyroute/bench/relay"
	"github.com/hyroute/hyroute/e2e/lan"
)

// servers are the commands of what stands between two ends, each a process of its own that listens at a port of localhost.
var servers = map[string]func(s settings, port int) []string{
	"relay":    own("relay"),
	"nats":     own("nats"),
	"peerjs":   script("peerjs.mjs"),
	"libp2p":   script("libp2p.mjs"),
	"nostr":    script("nostr.mjs"),
	"socketio": script("socketio.mjs"),
	"mqtt":     script("mqtt.mjs"),
	"hyroute": func(s settings, port int) []string {
		return []string{s.hyroute, "serve", "--listen", localhost(port), "--web", s.web}
	},
}

// own is a server within this program.
func own(name string) func(settings, int) []string {
	return func(_ settings, port int) []string {
		return []string{"/proc/self/exe", "-server", name, "-port", strconv.Itoa(port)}
	}
}

// script is a server in the folder servers/, run by Node.
func script(name string) func(settings, int) []string {
	return func(s settings, port int) []string {
		return []string{"node", filepath.Join(s.folder, "servers", name), strconv.Itoa(port)}
	}
}

func localhost(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// serve is this program as a server.
func serve(ctx context.Context, name string, port int) error {
	switch name {
	case "relay":
		return relay.Serve(ctx, localhost(port))
	case "nats":
		return nats.Serve(ctx, port)
	}
	return fmt.Errorf("there is no server %q", name)
}

// server is a process that runs.
type server struct {
	port    int
	command *exec.Cmd
}

// startServer starts a server and returns when it listens.
func (b *bench) startServer(ctx context.Context, kind string, port int) (*server, error) {
	argv := servers[kind](b.settings, port)
	if argv[0] == "/proc/self/exe" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		argv[0] = self
	}
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is left to the runner
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	s := &server{port, command}
	if err := lan.Listening(ctx, localhost(port)); err != nil {
		s.kill()
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return s, nil
}

// kill ends it without warning, and waits until it is gone.
func (s *server) kill() error {
	err := s.command.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	s.command.Wait()
	return err
}

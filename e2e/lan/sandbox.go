//go:build linux

// Package lan makes small networks for end-to-end runs: ends in network namespaces of their own, joined by a bridge, whose
// UDP can be dropped without notice while TCP passes.
//
// All of it lives in a sandbox: the program runs itself again in its own network, mount and process namespaces, so that
// whatever it makes or starts is gone when it ends, be it by its own will, by Ctrl-C or by kill -9.
package lan

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

const insideMark = "HYROUTE_E2E_INSIDE"

// Inside says whether this process is the one in the sandbox.
func Inside() bool { return os.Getenv(insideMark) != "" && os.Getpid() == 1 }

// RunInside starts this program again with the same arguments, in namespaces of its own, and waits for it. It returns the
// exit code. Who is not root becomes root of a user namespace, where the system allows that. SIGINT and SIGTERM are passed
// on; when this process dies, everything inside is killed.
func RunInside() (code int, err error) {
	// The death signal is that of the thread that starts the child, so the thread must live as long as this process.
	runtime.LockOSThread()
	self, err := os.Executable()
	if err != nil {
		return 1, fmt.Errorf("lan: %w", err)
	}
	command := exec.Command(self, os.Args[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.Env = append(os.Environ(), insideMark+"=1")
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
	if os.Getuid() != 0 {
		command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := command.Start(); err != nil {
		return 1, fmt.Errorf("lan: namespaces of its own (this needs root, or a system that allows user namespaces): %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- command.Wait() }()
	for {
		select {
		case <-signals:
			// A terminal has told the child already; a second SIGTERM does no harm.
			if err := command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return 1, fmt.Errorf("lan: stop: %w", err)
			}
		case err := <-done:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return max(exit.ExitCode(), 1), nil
			}
			return 0, err
		}
	}
}

// Settle makes the sandbox fit to work in: its own view of processes, and a /run in memory, with a folder for temporary
// files that it makes the default.
func Settle() error {
	mounts := []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"none", "/", "", syscall.MS_REC | syscall.MS_PRIVATE},
		{"proc", "/proc", "proc", 0},
		{"tmpfs", "/run", "tmpfs", 0},
	}
	for _, m := range mounts {
		if err := syscall.Mount(m.source, m.target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("lan: mount %s: %w", m.target, err)
		}
	}
	const temporary = "/run/tmp"
	if err := os.Mkdir(temporary, 0o777); err != nil {
		return fmt.Errorf("lan: %w", err)
	}
	if err := os.Setenv("TMPDIR", temporary); err != nil {
		return fmt.Errorf("lan: %w", err)
	}
	return nil
}

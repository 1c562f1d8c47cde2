package driver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Find is where a program is: what the environment variable says, or one of the names it goes by, the first of which is
// that of its Debian package.
func Find(variable string, names ...string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%[1]s: not found: install %[1]s (Debian: apt-get install %[1]s), or name one in %[2]s", names[0], variable)
}

// Process is a browser and the folder of its profile.
type Process struct {
	command *exec.Cmd
	profile string
	kept    bool // the profile is somebody else's to remove
}

// Prepare makes a command one of a browser: with a profile (an empty one of its own where none is given), and in a process
// group of its own, which is killed when the command's context is done.
func Prepare(command *exec.Cmd, profile string) (*Process, error) {
	p := &Process{command: command, profile: profile, kept: profile != ""}
	if !p.kept {
		var err error
		if p.profile, err = os.MkdirTemp("", "browser-"); err != nil {
			return nil, err
		}
	}
	// What it leaves in the folder of temporary files goes with the profile.
	command.Env = append(command.Environ(), "TMPDIR="+p.profile)
	// A group of its own, so that all its processes can be ended with it, and Ctrl-C is left to the runner.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = p.Kill
	command.WaitDelay = 5 * time.Second
	return p, nil
}

// Profile is the folder.
func (p *Process) Profile() string { return p.profile }

// ID is the number of its first process.
func (p *Process) ID() int { return p.command.Process.Pid }

// Start starts it. Where that fails, nothing is left.
func (p *Process) Start() error {
	err := p.command.Start()
	if err != nil {
		err = errors.Join(err, p.remove())
	}
	return err
}

// Kill ends all its processes by SIGKILL, and does not wait for that.
func (p *Process) Kill() error { return p.Signal(syscall.SIGKILL) }

// Signal sends a signal to all its processes.
func (p *Process) Signal(signal syscall.Signal) error {
	return syscall.Kill(-p.command.Process.Pid, signal)
}

// Close kills it, waits for its end, and removes the profile if it is its own.
func (p *Process) Close() error {
	err := p.Kill()
	if errors.Is(err, syscall.ESRCH) { // it has ended by itself, or was killed
		err = nil
	}
	var exit *exec.ExitError
	if waited := p.command.Wait(); waited != nil && !errors.As(waited, &exit) {
		err = errors.Join(err, waited)
	}
	return errors.Join(err, p.remove())
}

func (p *Process) remove() error {
	if p.kept {
		return nil
	}
	return Remove(p.profile)
}

// Remove removes a profile. It tries more than once: a process that was killed may still be writing.
func Remove(profile string) error {
	for try := 0; ; try++ {
		err := os.RemoveAll(profile)
		if err == nil || try == 20 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

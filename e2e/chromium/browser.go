package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// flags make a browser that starts fast, asks nothing and calls nobody. Timers of hidden tabs are throttled as for any
// user, and addresses are hidden behind mDNS names.
var flags = []string{
	"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--mute-audio", "--password-store=basic",
	"--no-first-run", "--no-default-browser-check", "--disable-default-apps", "--disable-extensions", "--disable-sync",
	"--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
}

// Find is where Chromium is: $CHROMIUM, or one of the names it goes by. The error says in one line what to install.
func Find() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("chromium: not found: install chromium (Debian: apt-get install chromium), or name one in CHROMIUM")
}

// Browser is a running Chromium with an empty profile.
type Browser struct {
	command *exec.Cmd
	profile string
	pipe    *pipe
	reading sync.WaitGroup
}

// Start starts a browser by the given command, which may wrap the program (to enter a network namespace). Origins in
// secure count as secure although they are served over http. The browser is killed when the command's context is done.
func Start(command *exec.Cmd, secure ...string) (*Browser, error) {
	profile, err := os.MkdirTemp("", "chromium-")
	if err != nil {
		return nil, fmt.Errorf("chromium: %w", err)
	}
	b := &Browser{command: command, profile: profile}
	command.Args = append(command.Args, flags...)
	for _, origin := range secure {
		command.Args = append(command.Args, "--unsafely-treat-insecure-origin-as-secure="+origin)
	}
	command.Args = append(command.Args, "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	// What it leaves in the folder of temporary files goes with the profile.
	command.Env = append(command.Environ(), "TMPDIR="+profile)
	// A group of its own, so that all its processes can be ended with it, and Ctrl-C is left to the runner.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = b.kill
	command.WaitDelay = 5 * time.Second

	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("chromium: %w", err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("chromium: %w", err)
	}
	command.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4
	err = command.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("chromium: start: %w", err), ourIn.Close(), ourOut.Close(), os.RemoveAll(profile))
	}
	b.pipe = newPipe(ourOut)
	b.reading.Go(func() {
		defer ourIn.Close()
		b.pipe.read(ourIn)
	})
	return b, nil
}

// Process is the number of the browser's first process, which all others descend from.
func (b *Browser) Process() int { return b.command.Process.Pid }

func (b *Browser) kill() error { return syscall.Kill(-b.command.Process.Pid, syscall.SIGKILL) }

// Close ends the browser and removes its profile.
func (b *Browser) Close() error {
	err := b.kill()
	var exit *exec.ExitError
	if waited := b.command.Wait(); waited != nil && !errors.As(waited, &exit) {
		err = errors.Join(err, waited)
	}
	b.reading.Wait()
	return errors.Join(err, b.pipe.out.Close(), removeProfile(b.profile))
}

// removeProfile tries more than once: a process that was killed may still be writing.
func removeProfile(dir string) error {
	for try := 0; ; try++ {
		err := os.RemoveAll(dir)
		if err == nil || try == 20 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// NewPage opens an empty tab in a window and a profile of its own. Console lines and uncaught errors go to log.
func (b *Browser) NewPage(ctx context.Context, log io.Writer) (*Page, error) {
	var profile struct {
		BrowserContextID string `json:"browserContextId"`
	}
	if err := b.pipe.call(ctx, "", "Target.createBrowserContext", nil, &profile); err != nil {
		return nil, err
	}
	p := &Page{browser: b, profile: profile.BrowserContextID, log: log, told: map[string]func(string){}}
	target, err := b.newTab(ctx, p.profile, true)
	if err != nil {
		return nil, err
	}
	var session struct {
		SessionID string `json:"sessionId"`
	}
	attach := map[string]any{"targetId": target, "flatten": true}
	if err := b.pipe.call(ctx, "", "Target.attachToTarget", attach, &session); err != nil {
		return nil, err
	}
	p.target, p.session = target, session.SessionID
	b.pipe.listen(p.session, p.event)
	for _, domain := range []string{"Page.enable", "Runtime.enable"} {
		if err := p.call(ctx, domain, nil, nil); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (b *Browser) newTab(ctx context.Context, profile string, newWindow bool) (string, error) {
	var target struct {
		TargetID string `json:"targetId"`
	}
	err := b.pipe.call(ctx, "", "Target.createTarget",
		map[string]any{"url": "about:blank", "browserContextId": profile, "newWindow": newWindow}, &target)
	return target.TargetID, err
}

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(v))
	}
	return string(b)
}

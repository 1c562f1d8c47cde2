// Package chromium drives a headless Chromium over its debugging pipe.
//
// It switches on no more of the protocol than a run asks for: a driver that enables the Network domain is told of every
// WebSocket frame, and so slows down what it measures.
package chromium

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/hyroute/hyroute/e2e/driver"
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
	return driver.Find("CHROMIUM", "chromium", "chromium-browser", "google-chrome")
}

// Browser is a running Chromium.
type Browser struct {
	process    *driver.Process
	connection *driver.Connection
	out        io.Closer
	reading    sync.WaitGroup
}

// Start starts a browser with an empty profile by the given command, which may wrap the program (to enter a network
// namespace). Origins in secure count as secure although they are served over http. The browser is killed when the
// command's context is done.
func Start(command *exec.Cmd, secure ...string) (*Browser, error) {
	return StartIn("", command, secure...)
}

// StartIn is Start with the profile in a folder, which stays.
func StartIn(profile string, command *exec.Cmd, secure ...string) (*Browser, error) {
	process, err := driver.Prepare(command, profile)
	if err != nil {
		return nil, fmt.Errorf("chromium: %w", err)
	}
	b := &Browser{process: process}
	command.Args = append(command.Args, flags...)
	for _, origin := range secure {
		command.Args = append(command.Args, "--unsafely-treat-insecure-origin-as-secure="+origin)
	}
	command.Args = append(command.Args, "--remote-debugging-pipe", "--user-data-dir="+process.Profile(), "about:blank")

	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("chromium: %w", err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("chromium: %w", err)
	}
	command.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4
	err = process.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("chromium: start: %w", err), ourIn.Close(), ourOut.Close())
	}
	b.out = ourOut
	// The pipe carries JSON objects that end with a zero byte, in both directions.
	b.connection = driver.NewConnection("chromium", func(message []byte) error {
		_, err := ourOut.Write(append(message, 0))
		return err
	})
	b.reading.Go(func() {
		defer ourIn.Close()
		in := bufio.NewReaderSize(ourIn, 1<<20)
		b.connection.Read(func() ([]byte, error) {
			message, err := in.ReadBytes(0)
			return message[:max(0, len(message)-1)], err
		})
	})
	return b, nil
}

// Process is the number of the browser's first process, which all others descend from.
func (b *Browser) Process() int { return b.process.ID() }

// Signal sends a signal to all processes of the browser.
func (b *Browser) Signal(signal syscall.Signal) error { return b.process.Signal(signal) }

// Close ends the browser, and removes its profile unless that is a folder that was given.
func (b *Browser) Close() error {
	err := b.process.Close()
	b.reading.Wait()
	return errors.Join(err, b.out.Close())
}

// NewPage opens an empty tab in a window and a profile of its own. Console lines and uncaught errors go to log.
func (b *Browser) NewPage(ctx context.Context, log io.Writer) (*Page, error) {
	var profile struct {
		BrowserContextID string `json:"browserContextId"`
	}
	if err := b.connection.Call(ctx, "", "Target.createBrowserContext", nil, &profile); err != nil {
		return nil, err
	}
	return b.open(ctx, profile.BrowserContextID, log)
}

// NewTab is NewPage in the browser's own profile, which all such tabs share. Only this one has what the browser keeps on disk, as its
// cache of compiled code.
func (b *Browser) NewTab(ctx context.Context, log io.Writer) (*Page, error) {
	return b.open(ctx, "", log)
}

func (b *Browser) open(ctx context.Context, profile string, log io.Writer) (*Page, error) {
	p := &Page{browser: b, profile: profile, log: log}
	target, err := b.newTab(ctx, p.profile, true)
	if err != nil {
		return nil, err
	}
	var session struct {
		SessionID string `json:"sessionId"`
	}
	attach := map[string]any{"targetId": target, "flatten": true}
	if err := b.connection.Call(ctx, "", "Target.attachToTarget", attach, &session); err != nil {
		return nil, err
	}
	p.target, p.session = target, session.SessionID
	b.connection.Listen(p.session, p.event)
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Inspector.enable"} {
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
	wanted := map[string]any{"url": "about:blank", "newWindow": newWindow}
	if profile != "" {
		wanted["browserContextId"] = profile
	}
	err := b.connection.Call(ctx, "", "Target.createTarget", wanted, &target)
	return target.TargetID, err
}

// Package firefox drives a headless Firefox as distributions ship it, by WebDriver BiDi
// (https://w3c.github.io/webdriver-bidi/).
package firefox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/e2e/driver"
)

// startLimit is how long a browser may take until it says where it listens.
const startLimit = 60 * time.Second

// Find is where Firefox is: $FIREFOX, or one of the names it goes by. The error says in one line what to install.
func Find() (string, error) {
	return driver.Find("FIREFOX", "firefox-esr", "firefox")
}

// Dial connects to an address as the browser sees it: it listens on its own loopback interface.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Browser is a running Firefox.
type Browser struct {
	process    *driver.Process
	connection *driver.Connection
	socket     *websocket.Conn
	running    sync.WaitGroup

	lock  sync.Mutex
	pages map[string]*Page // by browsing context
}

// Start starts a browser with an empty profile by the given command, which may wrap the program (to enter a network
// namespace; dial then connects from there, and is net.Dialer's where it is nil). Hosts in secure count as secure although
// they are served over http. The browser is killed when the command's context is done.
func Start(ctx context.Context, dial Dial, command *exec.Cmd, secure ...string) (*Browser, error) {
	return StartIn(ctx, dial, "", command, secure...)
}

// StartIn is Start with the profile in a folder, which stays.
func StartIn(ctx context.Context, dial Dial, profile string, command *exec.Cmd, secure ...string) (*Browser, error) {
	process, err := driver.Prepare(command, profile)
	if err != nil {
		return nil, fmt.Errorf("firefox: %w", err)
	}
	b := &Browser{process: process, pages: map[string]*Page{}}
	if err := os.WriteFile(filepath.Join(process.Profile(), "user.js"), preferences(secure), 0o600); err != nil {
		return nil, fmt.Errorf("firefox: %w", err)
	}
	command.Args = append(command.Args, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", process.Profile(), "about:blank")
	command.Env = append(command.Env, "HOME="+process.Profile(), "MOZ_CRASHREPORTER_DISABLE=1")
	said, err := command.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("firefox: %w", err)
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("firefox: start: %w", err)
	}
	if err := b.connect(ctx, dial, said); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// connect begins a session at the address that the browser says on its standard error.
func (b *Browser) connect(ctx context.Context, dial Dial, said io.Reader) error {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	address := make(chan string, 1)
	b.running.Go(func() {
		defer close(address)
		for lines := bufio.NewReader(said); ; {
			line, err := lines.ReadString('\n')
			if _, url, ok := strings.Cut(line, "WebDriver BiDi listening on "); ok {
				address <- strings.TrimSpace(url)
			}
			if err != nil {
				return
			}
		}
	})
	var url string
	select {
	case found, ok := <-address:
		if !ok {
			return errors.New("firefox: it ended before it listened")
		}
		url = found
	case <-ctx.Done():
		return fmt.Errorf("firefox: wait until it listens: %w", ctx.Err())
	}
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	socket, _, err := websocket.Dial(ctx, url+"/session", &websocket.DialOptions{HTTPClient: client, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return fmt.Errorf("firefox: %w", err)
	}
	socket.SetReadLimit(-1)
	b.socket = socket
	// Calls end with the browser, and so does the socket.
	b.connection = driver.NewConnection("firefox", func(message []byte) error {
		return socket.Write(context.Background(), websocket.MessageText, message)
	})
	b.running.Go(func() {
		b.connection.Read(func() ([]byte, error) {
			_, message, err := socket.Read(context.Background())
			return message, err
		})
	})
	b.connection.Listen("", b.event)
	if err := b.call(ctx, "session.new", fields{"capabilities": fields{}}, nil); err != nil {
		return err
	}
	return b.call(ctx, "session.subscribe", fields{"events": []string{"log.entryAdded", "script.message", "network.beforeRequestSent"}}, nil)
}

type fields map[string]any

func (b *Browser) call(ctx context.Context, method string, params fields, result any) error {
	return b.connection.Call(ctx, "", method, params, result)
}

// event hands an event to the page that it is of.
func (b *Browser) event(method string, params json.RawMessage) {
	var of struct {
		Context string `json:"context"`
		Source  struct {
			Context string `json:"context"`
		} `json:"source"`
	}
	if json.Unmarshal(params, &of) != nil {
		return
	}
	if of.Context == "" {
		of.Context = of.Source.Context
	}
	b.lock.Lock()
	page := b.pages[of.Context]
	b.lock.Unlock()
	if page != nil {
		page.event(method, params)
	}
}

// NewPage opens an empty tab in a window of its own, in the browser's profile. Console lines and uncaught errors go to log.
func (b *Browser) NewPage(ctx context.Context, log io.Writer) (*Page, error) {
	var made struct {
		Context string `json:"context"`
	}
	if err := b.call(ctx, "browsingContext.create", fields{"type": "window"}, &made); err != nil {
		return nil, err
	}
	p := &Page{browser: b, context: made.Context, log: log}
	b.lock.Lock()
	defer b.lock.Unlock()
	b.pages[p.context] = p
	return p, nil
}

// Process is the number of the browser's first process, whose group all others are in.
func (b *Browser) Process() int { return b.process.ID() }

// Signal sends a signal to all processes of the browser.
func (b *Browser) Signal(signal syscall.Signal) error { return b.process.Signal(signal) }

// Close ends the browser, and removes its profile unless that is a folder that was given.
func (b *Browser) Close() error {
	err := b.process.Close()
	if b.socket != nil {
		b.socket.CloseNow()
	}
	b.running.Wait()
	return err
}

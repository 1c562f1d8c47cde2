package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hyroute/hyroute/e2e/notices"
	"github.com/hyroute/hyroute/host"
	"github.com/hyroute/hyroute/scenarios/history"
)

// meeting is many runtimes that all send their first message at one moment, to runtimes that send theirs to them.
type meeting struct {
	lock   sync.Mutex
	guests []*guest
}

// gathering says how many there are to be.
type gathering struct {
	URL   string
	Count int
}

// moment is when they greet whom.
type moment struct {
	Peers []string
	At    float64 // ms on this end's clock
}

// guest is a runtime with its history and with what its machine did with peer connections.
type guest struct {
	begun   time.Time
	me      *host.Runtime
	sockets *sockets
	trace   traced
	met     chan struct{}
	direct  chan struct{}
	stop    context.CancelFunc
	running sync.WaitGroup

	lock    sync.Mutex
	sent    int
	records []history.Record
}

// surveyed is what is said of a guest.
type surveyed struct {
	Trace []string `json:"trace"`
}

// gather makes so many runtimes, whose clocks began at a time, and gives their addresses.
func (m *meeting) gather(ctx context.Context, g gathering, begun time.Time) ([]string, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.guests = nil
	var addresses []string
	for range g.Count {
		guest, err := enter(ctx, g.URL, begun)
		if err != nil {
			return nil, err
		}
		m.guests = append(m.guests, guest)
		addresses = append(addresses, guest.me.Address())
	}
	return addresses, nil
}

func enter(ctx context.Context, url string, begun time.Time) (*guest, error) {
	s, err := newSockets()
	if err != nil {
		return nil, err
	}
	g := &guest{begun: begun, sockets: s, met: make(chan struct{}), direct: make(chan struct{})}
	met, direct := sync.OnceFunc(func() { close(g.met) }), sync.OnceFunc(func() { close(g.direct) })
	g.me, err = host.Connect(ctx, url, host.Options{PeerNet: s, Trace: io.MultiWriter(&g.trace, &notices.Writer{Log: g.log}), Listener: func(m *host.Message) {
		g.log(history.Record{Kind: history.Delivered, Message: m.Text(), From: m.From, To: m.To, Path: string(m.Path)})
		met()
	}})
	if err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(context.Background())
	g.stop = stop
	events := g.me.Events(watching)
	g.running.Go(func() {
		for e := range events {
			if e, ok := e.(host.PathChanged); ok && e.Path == host.Direct {
				direct()
			}
		}
	})
	return g, nil
}

func (g *guest) log(r history.Record) {
	g.lock.Lock()
	defer g.lock.Unlock()
	r.At = uint64(time.Since(g.begun).Milliseconds())
	g.records = append(g.records, r)
}

// all does something with all guests at once.
func (m *meeting) all(do func(i int, g *guest) error) error {
	m.lock.Lock()
	guests := m.guests
	m.lock.Unlock()
	errs := make([]error, len(guests))
	var wait sync.WaitGroup
	for i, g := range guests {
		wait.Go(func() { errs[i] = do(i, g) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// meet has each of them greet its peer at the moment, and returns when all have met.
func (m *meeting) meet(ctx context.Context, at moment, begun time.Time) error {
	select {
	case <-time.After(time.Until(begun.Add(time.Duration(at.At * float64(time.Millisecond))))):
	case <-ctx.Done():
		return ctx.Err()
	}
	return m.all(func(i int, g *guest) error {
		g.greet(at.Peers[i])
		return wait(ctx, g.met)
	})
}

// greet sends one message, and returns when it is settled.
func (g *guest) greet(to string) {
	g.lock.Lock()
	name := fmt.Sprintf("%s#%d", g.me.Address(), g.sent)
	g.sent++
	g.lock.Unlock()
	g.log(history.Record{Kind: history.Posted, Message: name, From: g.me.Address(), To: to})
	g.log(settledAs(g.me.Post(host.Draft{To: to, Value: name}), name))
}

// onDirect returns when all of them are on a direct path. A connection that failed is made anew only while something is sent:
// so they go on. It says how many more messages that took.
func (m *meeting) onDirect(ctx context.Context, with moment) (more int, err error) {
	var lock sync.Mutex
	err = m.all(func(i int, g *guest) error {
		for {
			select {
			case <-g.direct:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second):
			}
			g.greet(with.Peers[i])
			lock.Lock()
			more++
			lock.Unlock()
		}
	})
	return more, err
}

func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var ofConnections = regexp.MustCompile(`^>? ?(dial-peer|answer-peer|close-stub|stub-changed) `)

// survey says which peer connections each of them has, as its machine knows them.
func (m *meeting) survey() []surveyed {
	m.lock.Lock()
	defer m.lock.Unlock()
	var report []surveyed
	for _, g := range m.guests {
		p := surveyed{Trace: []string{}}
		for line := range strings.Lines(g.trace.String()) {
			if line = strings.TrimSpace(line); ofConnections.MatchString(line) {
				p.Trace = append(p.Trace, line)
			}
		}
		report = append(report, p)
	}
	return report
}

// part ends them, and gives their histories.
func (m *meeting) part() (string, error) {
	err := m.all(func(_ int, g *guest) error {
		err := g.me.Close()
		g.stop()
		g.running.Wait()
		return err
	})
	if err != nil {
		return "", fmt.Errorf("part: %w", err)
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	var lines bytes.Buffer
	for _, g := range m.guests {
		for i := range g.records {
			g.records[i].End = g.me.Address()
		}
		if err := history.Write(&lines, g.records...); err != nil {
			return "", err
		}
	}
	m.guests = nil
	return lines.String(), nil
}

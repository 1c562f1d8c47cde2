package host

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/hyroute/hyroute/scenarios/history"
)

// lifeVariable makes this test binary one life of a runtime instead of a run of tests. Its value is a life in JSON.
const lifeVariable = "HYROUTE_TEST_LIFE"

// life is a process that sends numbers to another and takes those of the other, until it reads a line or is killed; a
// second line ends it. It logs what it sees with one write a line, so that whatever happened before it died is in the log.
type life struct {
	Name, Peer, Store, Node, Log string
	Number                       int    // of this life
	Module, Cache                string // files; empty: linked
	Direct                       bool
}

// seen is a line of the log of a life: a record of history, or one of these.
type seen struct {
	history.Record
	Life int
	Kind string // intended, stored and restored are known to no history
}

type lifeLog struct {
	life
	mu  sync.Mutex
	to  *os.File
	end string
}

func (l *lifeLog) write(s seen) {
	s.Life, s.End = l.Number, l.end
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.to.Write(append(b, '\n')); err != nil {
		panic(err)
	}
}

func readLife(path string) ([]seen, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []seen
	var torn error
	for s := bufio.NewScanner(f); s.Scan(); {
		var one seen
		switch err := json.Unmarshal(s.Bytes(), &one); {
		case len(s.Bytes()) == 0:
			torn = nil // a new life begins
		case torn != nil:
			return nil, fmt.Errorf("%s: %w", path, torn)
		case err != nil:
			torn = err // what it was writing when it was killed
		default:
			all = append(all, one)
		}
	}
	return all, torn
}

// live lives one life.
func live(text string) error {
	var l lifeLog
	err := json.Unmarshal([]byte(text), &l.life)
	if err != nil {
		return err
	}
	if l.to, err = os.OpenFile(l.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	if _, err := l.to.WriteString("\n"); err != nil {
		return err
	}
	o := Options{Name: l.Name, Domain: testDomain, Store: l.Store, NoDirect: !l.Direct, Loopback: true, ModuleCache: l.Cache}
	if l.Module != "" {
		if o.Module, err = os.ReadFile(l.Module); err != nil {
			return err
		}
	}
	ctx := context.Background()
	r, err := Connect(ctx, l.Node, o)
	if err != nil {
		return err
	}
	l.end = r.URL()
	l.write(seen{Kind: "born"})
	var waiting sync.WaitGroup
	settle := func(name string, s *Sent) {
		l.write(l.settled(name, s))
	}
	for _, x := range r.Restored() {
		name := nameOf(x.Draft.Value.(string))
		l.write(seen{Kind: "restored", Record: history.Record{Message: name}})
		waiting.Go(func() { settle(name, x.Sent) })
	}
	go func() {
		for e := range r.Events(ctx) {
			switch e := e.(type) {
			case Reset:
				l.write(seen{Kind: "reset", Record: history.Record{Peer: e.Peer, Reason: e.Reason}})
			case Gap:
				l.write(seen{Kind: "gap", Record: history.Record{Peer: e.Peer}})
			case Problem:
				l.write(seen{Kind: "problem", Record: history.Record{Reason: e.Text}})
			}
		}
	}()
	r.Listen(func(m *Message) {
		l.write(seen{Kind: "delivered", Record: history.Record{Message: nameOf(m.Text()), From: m.From, To: m.To, Path: string(m.Path)}})
		fmt.Println("delivered")
	})
	stop, quit := make(chan struct{}), make(chan struct{})
	go func() {
		in := bufio.NewReader(os.Stdin)
		_, _ = in.ReadString('\n')
		close(stop)
		_, _ = in.ReadString('\n')
		close(quit)
	}()
	l.send(r, stop, func(name string, s *Sent, room chan struct{}) {
		waiting.Go(func() {
			<-s.Stored()
			l.write(seen{Kind: "stored", Record: history.Record{Message: name}})
			settle(name, s)
			<-room
		})
	})
	waiting.Wait()
	fmt.Println("settled")
	select {
	case <-r.Done():
		return fmt.Errorf("the runtime ended")
	case <-quit:
	}
	return r.Close()
}

// send posts numbers until stop, some of them long, with a bounded number on their way.
func (l *lifeLog) send(r *Runtime, stop chan struct{}, wait func(string, *Sent, chan struct{})) {
	room := make(chan struct{}, 30)
	for n := 0; ; n++ {
		select {
		case room <- struct{}{}:
		case <-stop:
			return
		}
		name := fmt.Sprintf("%s-%d-%d", l.Name, l.Number, n)
		text := name + " "
		if n%20 == 7 {
			text += strings.Repeat("x", 40_000)
		}
		l.write(seen{Kind: "intended", Record: history.Record{Message: name, From: r.Address(), To: l.Peer}})
		wait(name, r.Post(Draft{To: l.Peer, Value: text, Deadline: limit * 10}), room)
	}
}

func (l *lifeLog) settled(name string, s *Sent) seen {
	_, err := s.Result()
	r := history.Record{Message: name, Outcome: history.OutcomeDelivered}
	if err != nil {
		e := err.(*Error)
		r.Outcome, r.Reason, r.Maybe = history.OutcomeRejected, string(e.Code), e.Maybe
	}
	return seen{Kind: "settled", Record: r}
}

func nameOf(text string) string {
	name, _, _ := strings.Cut(text, " ")
	return name
}

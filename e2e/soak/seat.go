package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hyroute/hyroute/e2e/notices"
	"github.com/hyroute/hyroute/host"
	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/scenarios/history"
)

// seat is a place for a runtime: one after the other lives there, with the same key and so the same address.
type seat struct {
	key     *identity.Key
	store   string // a folder: what lives here remembers; empty: each life begins with nothing
	node    string
	ledger  *ledger
	udp     *atomic.Int64
	count   *atomic.Int64 // messages of all seats
	paths   *sync.Map     // of deliveries: *atomic.Int64 by path
	running sync.WaitGroup

	lock     sync.Mutex
	network  *network
	me       *host.Runtime
	slowTill time.Time
	started  bool
	pending  map[string]history.Record // posted by a life that did not live to hear of it; with a store only
	taken    string                    // the message that was delivered last
	again    string                    // the one that a former life was handling last: it may come again, and no other
}

// payload is what is sent.
type payload struct {
	Name string `json:"name"`
}

// live starts a runtime.
func (s *seat) live(ctx context.Context) error {
	n, err := newNetwork(s.udp)
	if err != nil {
		return err
	}
	url, err := s.key.RuntimeURL("localhost")
	if err != nil {
		return err
	}
	if !s.started || s.store == "" {
		s.ledger.log(history.Record{Kind: history.Started, End: url.String()})
	}
	s.started = true
	me, err := host.Connect(ctx, s.node, host.Options{
		Key: s.key, Store: s.store, Loopback: true, Dial: n.dial, PeerNet: n, Trace: &notices.Writer{End: url.String(), Log: s.ledger.log},
		Listener: func(m *host.Message) { s.delivered(url.String(), m) },
	})
	if err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.network, s.me = n, me
	s.goOn(url.String(), me.Restored())
	return nil
}

// die ends the runtime: politely, or with all its sockets first, so that nobody is told.
func (s *seat) die(politely bool) error {
	s.lock.Lock()
	n, me := s.network, s.me
	s.me = nil
	s.lock.Unlock()
	if me == nil {
		return nil
	}
	if !politely {
		n.kill()
	}
	err := me.Close()
	s.running.Wait()
	n.kill()
	if s.store != "" {
		s.lock.Lock()
		s.again = s.taken
		s.lock.Unlock()
	}
	return err
}

func (s *seat) delivered(end string, m *host.Message) {
	var p payload
	if err := m.JSON(&p); err != nil {
		p.Name = "unreadable: " + err.Error()
	}
	s.lock.Lock()
	slow, again := time.Now().Before(s.slowTill), p.Name == s.again
	s.taken = p.Name
	if again {
		s.again = ""
	}
	s.lock.Unlock()
	if again {
		return
	}
	s.ledger.log(history.Record{Kind: history.Delivered, End: end, Message: p.Name, From: m.From, To: m.To, Path: string(m.Path)})
	n, _ := s.paths.LoadOrStore(m.Path, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	if slow {
		time.Sleep(20 * time.Millisecond)
	}
}

// post sends a message to another seat, if there is a runtime here.
func (s *seat) post(to *seat) {
	s.lock.Lock()
	defer s.lock.Unlock() // what is posted is logged in the same order
	if s.me == nil {
		return
	}
	from := s.me.Address()
	target := "hyperty://localhost/" + to.key.ID()
	name := fmt.Sprintf("%s#%d", from, s.count.Add(1))
	s.ledger.log(history.Record{Kind: history.Posted, End: s.me.URL(), Message: name, From: from, To: target})
	sent := s.me.Post(host.Draft{To: target, Value: payload{name}, Deadline: deadline})
	s.follow(s.me.URL(), name, sent)
}

// follow logs what becomes of a message, when that is known. A life that remembers leaves to the next what it did not hear of.
func (s *seat) follow(end, name string, sent *host.Sent) {
	s.running.Go(func() {
		receipt, err := sent.Result()
		r := history.Record{Kind: history.Settled, End: end, Message: name, Outcome: history.OutcomeTaken}
		var failed *host.Error
		switch {
		case errors.As(err, &failed):
			r.Outcome, r.Reason, r.Maybe = history.OutcomeRejected, string(failed.Code), failed.Maybe
		case err != nil:
			r.Outcome, r.Reason, r.Maybe = history.OutcomeRejected, err.Error(), true
		case receipt.Delivered:
			r.Outcome = history.OutcomeDelivered
		}
		if s.store != "" && r.Reason == string(host.Closed) {
			s.lock.Lock()
			defer s.lock.Unlock()
			s.pending[name] = r
			return
		}
		s.ledger.settle(r)
	})
}

// goOn follows what a former life left, and settles what it can have left to nobody. The lock is held.
func (s *seat) goOn(end string, left []*host.Restored) {
	for _, m := range left {
		var p payload
		if raw, ok := m.Draft.Value.(json.RawMessage); ok && json.Unmarshal(raw, &p) == nil {
			delete(s.pending, p.Name)
			s.follow(end, p.Name, m.Sent)
		}
	}
	for _, r := range s.pending {
		r.Maybe = true
		s.ledger.settle(r)
	}
	s.pending = map[string]history.Record{}
}

// fault breaks something of the seat, and says what.
func (s *seat) fault(ctx context.Context, random *rand.Rand) (string, error) {
	s.lock.Lock()
	n, me := s.network, s.me
	s.lock.Unlock()
	if me == nil {
		return "", nil
	}
	switch random.IntN(8) {
	case 0, 1:
		me.BreakDirect()
		return "close-channels", nil
	case 2, 3:
		n.cutTCP()
		return "drop-socket", nil
	case 4:
		n.cutUDP()
		return "drop-udp", nil
	case 5:
		release := n.hold()
		defer release()
		pause(ctx, time.Duration(500+random.IntN(2500))*time.Millisecond)
		return "hold", nil
	case 6:
		s.lock.Lock()
		s.slowTill = time.Now().Add(2 * time.Second)
		s.lock.Unlock()
		return "slow", nil
	}
	politely := random.IntN(2) == 0
	if err := s.die(politely); err != nil {
		return "restart", err
	}
	if err := s.live(ctx); err != nil && ctx.Err() == nil {
		return "restart", err
	}
	if politely {
		return s.named("restart"), nil
	}
	return s.named("kill"), nil
}

// named tells the faults of seats that remember from those of others.
func (s *seat) named(what string) string {
	if s.store != "" {
		what += "-stored"
	}
	return what
}

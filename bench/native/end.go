// Package native is an end of the bench that is a process and no page. It knows the calls of page/bench.js.
package native

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// What a message is stands in its byte 0, its number in bytes 4 to 7.
const (
	numbered = iota
	last
	ping
	pong
)

// options are what an end opens its subject with.
type options struct {
	Role, Room, Peer string
	Port             int
}

// way is an open subject.
type way interface {
	// send gives a message on, and waits where the sender must.
	send(message []byte) error
	// address is what the other end needs to find this one, if it needs anything.
	address() string
}

// End is one of the two that talk.
type End struct {
	subject string
	way     way

	pongs chan struct{}
	seen  *seen
}

// seen is what came of a blast. Only the receiving goroutine writes it until all is closed.
type seen struct {
	count, wanted, disorder, next int
	bytes, direct                 int
	first, last                   time.Time
	all                           chan struct{}
}

// New makes an end of a subject: pion, or hyroute-pion.
func New(subject string) *End { return &End{subject: subject, pongs: make(chan struct{}, 1)} }

// Call calls a function by its name. Its argument and its result are those of the page's.
func (e *End) Call(ctx context.Context, function string, argument json.RawMessage) (any, error) {
	switch function {
	case "open":
		var o options
		if err := json.Unmarshal(argument, &o); err != nil {
			return nil, err
		}
		return e.open(ctx, o)
	case "trips":
		var a struct{ Count, Warm, Size int }
		if err := json.Unmarshal(argument, &a); err != nil {
			return nil, err
		}
		return e.trips(ctx, a.Count, a.Warm, a.Size)
	case "expect":
		e.seen = &seen{wanted: -1, all: make(chan struct{})}
		return true, nil
	case "received":
		return e.received(ctx)
	case "blast":
		var a struct{ Size, MS int }
		if err := json.Unmarshal(argument, &a); err != nil {
			return nil, err
		}
		return e.blast(a.Size, time.Duration(a.MS)*time.Millisecond)
	}
	return nil, fmt.Errorf("a native end has no function %q", function)
}

func (e *End) open(ctx context.Context, o options) (address string, err error) {
	if e.subject == "pion" {
		e.way, err = openChannel(ctx, o, e.receive)
	} else {
		e.way, err = openHyroute(ctx, o, e.receive)
	}
	if err != nil {
		return "", err
	}
	return e.way.address(), nil
}

func message(kind byte, number, size int) []byte {
	m := make([]byte, size)
	m[0] = kind
	binary.BigEndian.PutUint32(m[4:], uint32(number))
	return m
}

// receive takes one message after the other.
func (e *End) receive(m []byte, direct bool) {
	number := int(binary.BigEndian.Uint32(m[4:]))
	switch m[0] {
	case numbered:
		s := e.seen
		s.last = time.Now()
		if s.count == 0 {
			s.first = s.last
		}
		s.bytes += len(m)
		if direct {
			s.direct++
		}
		if number != s.next {
			s.disorder++
		}
		s.next = number + 1
		if s.count++; s.count == s.wanted {
			close(s.all)
		}
	case last:
		s := e.seen
		s.wanted = number
		if s.count >= number {
			close(s.all)
		}
	case ping:
		// Nothing is written to whom could be told; the other end misses the answer.
		_ = e.way.send(message(pong, number, len(m)))
	case pong:
		e.pongs <- struct{}{}
	}
}

func (e *End) trips(ctx context.Context, count, warm, size int) (map[string]float64, error) {
	took := make([]time.Duration, 0, count)
	var begun, before time.Time
	for i := -warm; i < count; i++ {
		if i == 0 {
			begun = time.Now()
			before = begun
		}
		if err := e.way.send(message(ping, 0, size)); err != nil {
			return nil, err
		}
		select {
		case <-e.pongs:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if i >= 0 {
			now := time.Now()
			took = append(took, now.Sub(before))
			before = now
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	mean := ms(before.Sub(begun)) / float64(count)
	slices.Sort(took)
	return map[string]float64{"mean": mean, "p50": ms(took[count/2]), "p99": ms(took[count*99/100]), "most": ms(took[count-1])}, nil
}

func (e *End) blast(size int, length time.Duration) (sent int, err error) {
	for begun := time.Now(); sent%16 != 0 || time.Since(begun) < length; sent++ {
		if err := e.way.send(message(numbered, sent, size)); err != nil {
			return 0, err
		}
	}
	return sent, e.way.send(message(last, sent, 64))
}

func (e *End) received(ctx context.Context) (any, error) {
	ctx, stop := context.WithTimeout(ctx, 30*time.Second)
	defer stop()
	s := e.seen
	select {
	case <-s.all:
	case <-ctx.Done():
		return nil, fmt.Errorf("not all messages of a blast came: %w", ctx.Err())
	}
	return map[string]any{"count": s.count, "wanted": s.wanted, "disorder": s.disorder, "bytes": s.bytes, "direct": s.direct, "seconds": s.last.Sub(s.first).Seconds()}, nil
}

//go:build unix

package host

import (
	"testing"
	"time"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/engine"
)

// countedMachine is a linked machine that counts what it does.
type countedMachine struct {
	machine.Machine
	steps, frames int
}

func (c *countedMachine) Step(now engine.Instant, events ...engine.Event) ([]engine.Effect, error) {
	c.steps++
	effects, err := c.Machine.Step(now, events...)
	for _, e := range effects {
		if _, ok := e.(*engine.Transmit); ok {
			c.frames++
		}
	}
	return effects, err
}

func (c *countedMachine) open(config engine.Config) (_ machine.Machine, effects []engine.Effect, err error) {
	c.Machine, effects, err = machine.Linked(config)
	return c, effects, err
}

// linkedPair is two runtimes of this process, whose messages go by path.
type linkedPair struct {
	from, to *Runtime
	machines [2]*countedMachine
}

func newLinkedPair(b *testing.B, path Path) *linkedPair {
	n := startNode(b)
	p := &linkedPair{}
	for i, r := range []**Runtime{&p.from, &p.to} {
		m := &countedMachine{}
		var err error
		if *r, err = Connect(b.Context(), n.url, Options{Domain: testDomain, Loopback: true, NoDirect: path == Relay, open: m.open}); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { (*r).Close() })
		p.machines[i] = m
	}
	return p
}

// settle waits until messages go by path.
func (p *linkedPair) settle(b *testing.B, path Path) {
	for begun := time.Now(); ; {
		receipt, err := p.from.Post(Draft{To: p.to.Address(), Value: []byte{}}).Result()
		if err != nil {
			b.Fatal(err)
		}
		if receipt.Path == path {
			return
		}
		if time.Since(begun) > limit {
			b.Fatalf("the path stays %s", receipt.Path)
		}
	}
}

// report gives what each of b.N messages took. Both machines rest.
func (p *linkedPair) report(b *testing.B, used time.Duration) {
	steps, frames := 0, 0
	p.from.Close()
	p.to.Close()
	for _, m := range p.machines {
		steps += m.steps
		frames += m.frames
	}
	n := float64(b.N)
	b.ReportMetric(float64(used.Nanoseconds())/1000/n, "cpu-us/op")
	b.ReportMetric(float64(steps)/n, "steps/op")
	b.ReportMetric(float64(frames)/n, "frames/op")
}

// BenchmarkTrip is a message of 64 bytes there and, posted by its listener, back, one at a time.
func BenchmarkTrip(b *testing.B) {
	for _, path := range []Path{Relay, Direct} {
		b.Run(string(path), func(b *testing.B) {
			p := newLinkedPair(b, path)
			back := make(chan struct{}, 1)
			p.from.Listen(func(*Message) { back <- struct{}{} })
			p.to.Listen(func(m *Message) {
				if len(m.Bytes()) > 0 {
					m.Reply(m.Bytes())
				}
			})
			p.settle(b, path)
			value := make([]byte, 64)
			b.ReportAllocs()
			begun := cpu()
			for b.Loop() {
				p.from.Post(Draft{To: p.to.Address(), Value: value})
				<-back
			}
			p.report(b, cpu()-begun)
		})
	}
}

// delivered waits for the outcome of each message in turn, of which so many may be on their way. done tells of the first that was not
// delivered, or of the end.
func delivered(most int) (room chan<- *Sent, done <-chan error) {
	sent, over := make(chan *Sent, most), make(chan error)
	go func() {
		for s := range sent {
			if _, err := s.Result(); err != nil {
				over <- err
				return
			}
		}
		over <- nil
	}()
	return sent, over
}

// BenchmarkStream is messages of 200 bytes one way, 1024 at once on their way.
func BenchmarkStream(b *testing.B) {
	for _, path := range []Path{Relay, Direct} {
		b.Run(string(path), func(b *testing.B) {
			p := newLinkedPair(b, path)
			p.to.Listen(func(*Message) {})
			p.settle(b, path)
			value := make([]byte, 200)
			room, done := delivered(1024)
			b.ReportAllocs()
			begun := cpu()
			for b.Loop() {
				room <- p.from.Post(Draft{To: p.to.Address(), Value: value})
			}
			close(room)
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			p.report(b, cpu()-begun)
		})
	}
}

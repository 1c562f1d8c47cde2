//go:build linux

package machine_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/pool"
	"github.com/hyroute/hyroute/wasm/module"
)

// side is one machine of a pair, and what its body holds.
type side struct {
	machine machine.Machine
	url     address.Address
	own     address.Address
	next    uint64 // msg
	frame   uint64
	events  []engine.Event // for the next step
	before  []engine.Event // of the last one
	posts   pool.Pool[*engine.MessagePosted]
	taken   pool.Pool[*engine.DeliveryTaken]
	arrived pool.Pool[*engine.FrameReceived]
	heads   []byte
	settled int
	steps   int
	frames  int // sent
}

// pair is two machines on one Message Node, with an address each that is named after its runtime: nobody has to be asked.
type pair struct {
	now   engine.Instant
	sides [2]*side
}

func newPair(b *testing.B, open func(engine.Config) (machine.Machine, []engine.Effect, error)) *pair {
	p := &pair{now: 1}
	for i := range p.sides {
		id := strings.Repeat(string(rune('a'+i)), 32)
		s := &side{url: address.MustParse("runtime://a.example/" + id), own: address.MustParse("hyperty://a.example/" + id)}
		m, effects, err := open(engine.Config{Runtime: s.url, Wall: 1_700_000_000_000, Seed: uint64(i + 1)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { m.Close() })
		s.machine = m
		p.sides[i] = s
		p.do(i, effects)
		s.events = append(s.events, &engine.EndpointRegistered{Address: s.own})
	}
	p.settle(b)
	return p
}

// do is a body without payload: what one side transmits the other one gets. It uses its events again, so that what is allocated is
// the machine's.
func (p *pair) do(i int, effects []engine.Effect) {
	s, other := p.sides[i], p.sides[1-i]
	for _, effect := range effects {
		switch e := effect.(type) {
		case *engine.DeployNodeStub:
			s.events = append(s.events, &engine.StubChanged{Stub: e.Stub, Status: engine.StatusLive})
		case *engine.RegisterEndpoint:
			s.events = append(s.events, &engine.RegistryAnswered{Job: e.Job, Code: 200})
		case *engine.NameHandle:
			other.events = append(other.events, &engine.HandleNamed{Stub: 1, Handle: 1, Runtime: s.url})
		case *engine.Transmit:
			size := e.Pad
			for _, part := range e.Parts {
				size += part.Length
			}
			s.frames++
			other.frame++
			from := len(other.heads)
			other.heads = append(other.heads, e.Head...)
			x := other.arrived.Lend()
			if x == nil {
				x = other.arrived.Add(&engine.FrameReceived{})
			}
			*x = engine.FrameReceived{Stub: 1, Handle: 1, Frame: other.frame, Head: other.heads[from:], Size: size}
			other.events = append(other.events, x)
		case *engine.Deliver:
			x := s.taken.Lend()
			if x == nil {
				x = s.taken.Add(&engine.DeliveryTaken{})
			}
			x.Delivery = e.Delivery
			s.events = append(s.events, x)
		case *engine.Settle:
			if e.Outcome == "delivered" {
				s.settled++
			}
		}
	}
}

func (p *pair) step(b *testing.B, i int) {
	s := p.sides[i]
	s.events, s.before = s.before[:0], s.events
	effects, err := s.machine.Step(p.now, s.before...)
	s.steps++
	s.posts.Reset()
	s.taken.Reset()
	s.arrived.Reset()
	s.heads = s.heads[:0]
	if err != nil {
		b.Fatal(err)
	}
	p.do(i, effects)
}

// settle steps both until nothing is left to tell.
func (p *pair) settle(b *testing.B) {
	for turns := 0; len(p.sides[0].events)+len(p.sides[1].events) > 0; turns++ {
		for i, s := range p.sides {
			if len(s.events) > 0 {
				p.step(b, i)
			}
		}
		if turns > 1000 {
			b.Fatal("it never comes to rest")
		}
	}
}

func (p *pair) post(size int) {
	s := p.sides[0]
	s.next++
	m := s.posts.Lend()
	if m == nil {
		m = s.posts.Add(&engine.MessagePosted{})
	}
	*m = engine.MessagePosted{Msg: s.next, From: s.own, To: p.sides[1].own, Size: size}
	s.events = append(s.events, m)
}

// BenchmarkMessage is what the machine takes for one message: posted, sent, received, delivered, acknowledged and settled, with so
// many posted in one Step. It is both ends together, in time of the processor, so that a busy machine changes little.
func BenchmarkMessage(b *testing.B) {
	wasm, _, err := module.Build("")
	if err != nil {
		b.Fatal(err)
	}
	bodies := []struct {
		name string
		open func(engine.Config) (machine.Machine, []engine.Effect, error)
	}{
		{"linked", machine.Linked},
		{"wazero", func(c engine.Config) (machine.Machine, []engine.Effect, error) {
			return machine.Module(wasm, c, machine.Options{CacheDir: os.Getenv("HYROUTE_BENCH_CACHE")})
		}},
	}
	for _, body := range bodies {
		for _, batch := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/together=%d", body.name, batch), func(b *testing.B) {
				p := newPair(b, body.open)
				b.ReportAllocs()
				for _, s := range p.sides {
					s.steps, s.frames, s.settled = 0, 0, 0
				}
				begun := cpuTime()
				b.ResetTimer()
				for done := 0; done < b.N; {
					for range min(batch, b.N-done) {
						p.post(200)
						done++
					}
					p.settle(b)
					p.now += 30
					for _, s := range p.sides {
						s.events = append(s.events, &engine.TimePassed{})
					}
					p.settle(b)
				}
				b.StopTimer()
				from, to := p.sides[0], p.sides[1]
				if from.settled != b.N {
					b.Fatalf("%d of %d messages were delivered", from.settled, b.N)
				}
				n := float64(b.N)
				b.ReportMetric(float64(cpuTime()-begun)/n, "cpu-ns/msg")
				b.ReportMetric(float64(from.steps+to.steps)/n, "steps/msg")
				b.ReportMetric(float64(from.frames+to.frames)/n, "frames/msg")
			})
		}
	}
}

// cpuTime is what this process used of the processor, in ns.
func cpuTime() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

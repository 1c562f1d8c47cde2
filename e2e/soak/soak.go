package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/node"
)

const (
	seats    = 20
	reach    = 2                      // a seat sends to so many others on either side
	each     = 100 * time.Millisecond // a seat sends about so often, a few messages at once
	deadline = 8 * time.Second        // of a message
	rest     = 30 * time.Second       // at most, until all is settled
	breaks   = 300 * time.Millisecond // from one fault to the next
)

// Options say how long, and of what seed the faults are.
type Options struct {
	For  time.Duration
	Seed uint64
	// Folder is for the stores of every other runtime. Empty: none remembers anything.
	Folder string
	Say    func(format string, arguments ...any) // progress; nil: none
}

// Use is what the process uses at the end of a round, when all rests.
type Use struct {
	Heap, Objects   uint64 // bytes and objects that are in use after a collection
	Goroutines      int
	UDP             int64 // sockets of peer connections
	Connections     int   // of the node
	Posted, Settled int   // of the round
	Longest         uint64
}

// Report is what a run found.
type Report struct {
	Uses   []Use
	Faults map[string]int
	Paths  map[string]int64
	// Left are the goroutines of ours and of pion's after everything was closed.
	Left string
}

type run struct {
	options Options
	ledger  *ledger
	seats   []*seat
	udp     atomic.Int64
	count   atomic.Int64
	paths   sync.Map

	lock   sync.Mutex
	faults map[string]int
}

// Run soaks. The error says what was wrong: a broken promise, or something that grows.
func Run(ctx context.Context, o Options) (report Report, err error) {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	n, err := node.New(node.Config{Domain: "localhost"})
	if err != nil {
		return report, err
	}
	server := httptest.NewServer(n)
	r := &run{options: o, ledger: newLedger(), faults: map[string]int{}}
	url := "ws" + strings.TrimPrefix(server.URL, "http") + "/ws"
	for i := range seats {
		key, err := identity.New()
		if err != nil {
			return report, err
		}
		s := &seat{key: key, node: url, ledger: r.ledger, udp: &r.udp, count: &r.count, paths: &r.paths}
		if o.Folder != "" && i%2 == 0 {
			s.store = filepath.Join(o.Folder, key.ID())
		}
		r.seats = append(r.seats, s)
	}
	for _, s := range r.seats {
		err = errors.Join(err, s.live(ctx))
	}
	if err == nil {
		report.Uses, err = r.rounds(ctx)
	}
	for _, s := range r.seats {
		err = errors.Join(err, s.die(true))
	}
	server.CloseClientConnections()
	server.Close()
	n.Close()
	report.Faults, report.Paths, report.Left = r.faults, map[string]int64{}, leftGoroutines()
	r.paths.Range(func(path, n any) bool {
		report.Paths[fmt.Sprint(path)] = n.(*atomic.Int64).Load()
		return true
	})
	if report.Left != "" {
		err = errors.Join(err, fmt.Errorf("goroutines are left:\n%s", report.Left))
	}
	if left := r.udp.Load(); left != 0 {
		err = errors.Join(err, fmt.Errorf("%d UDP sockets are left", left))
	}
	return report, errors.Join(err, grows(report.Uses))
}

// rounds plays rounds until the time is over, and measures after each.
func (r *run) rounds(ctx context.Context) (uses []Use, err error) {
	const least = 4
	round := max(5*time.Second, min(20*time.Second, r.options.For/8))
	random := rand.New(rand.NewPCG(r.options.Seed, 1))
	for begun := time.Now(); len(uses) < least || time.Since(begun) < r.options.For; {
		if err := r.trouble(ctx, round, random); err != nil {
			return uses, err
		}
		if err := r.settle(ctx); err != nil {
			return uses, err
		}
		posted := r.ledger.posts()
		verdict := r.ledger.close()
		use := r.measure()
		use.Posted, use.Settled, use.Longest = posted, verdict.Summary.Settled, verdict.Summary.LongestGap
		uses = append(uses, use)
		r.options.Say("round %d: %d messages, heap %.1f MB in %d objects, %d goroutines, %d UDP sockets; faults so far %s",
			len(uses), posted, float64(use.Heap)/1e6, use.Objects, use.Goroutines, use.UDP, r.told())
		if err := verdict.Err(); err != nil {
			return uses, fmt.Errorf("round %d: %w", len(uses), err)
		}
	}
	return uses, nil
}

// trouble has all seats send while faults happen.
func (r *run) trouble(ctx context.Context, round time.Duration, random *rand.Rand) error {
	ctx, stop := context.WithTimeout(ctx, round)
	defer stop()
	var all sync.WaitGroup
	for i, s := range r.seats {
		own := rand.New(rand.NewPCG(r.options.Seed, random.Uint64()))
		all.Go(func() {
			for pause(ctx, time.Duration(own.Int64N(int64(2*each)))) {
				distance := 1 + own.IntN(reach)
				if own.IntN(2) == 0 {
					distance = seats - distance
				}
				for range 1 + own.IntN(4) {
					s.post(r.seats[(i+distance)%seats])
				}
			}
		})
	}
	var lock sync.Mutex
	var failed error
	busy := map[*seat]bool{}
	for pause(ctx, time.Duration(random.Int64N(int64(2*breaks)))) {
		s := r.seats[random.IntN(seats)]
		own := rand.New(rand.NewPCG(r.options.Seed, random.Uint64()))
		lock.Lock()
		taken := busy[s]
		busy[s] = true
		lock.Unlock()
		if taken {
			continue
		}
		all.Go(func() {
			// What a fault takes is not cut short by the end of the round: a runtime that was killed has to live again.
			what, err := s.fault(context.WithoutCancel(ctx), own)
			lock.Lock()
			defer lock.Unlock()
			busy[s] = false
			failed = errors.Join(failed, err)
			r.lock.Lock()
			defer r.lock.Unlock()
			r.faults[what]++
		})
	}
	all.Wait()
	return failed
}

// settle waits until nothing is owed to anybody.
func (r *run) settle(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, rest)
	defer stop()
	for r.ledger.owed() > 0 {
		if !pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("%v after the last fault %d messages are not settled", rest, r.ledger.owed())
		}
	}
	// What was acknowledged is on its way to nobody; what was given up may be, and connections that are closed take a moment.
	pause(ctx, 2*time.Second)
	return nil
}

func (r *run) told() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Fprintf(&b, " %s %d", name, r.faults[name])
	}
	return b.String()
}

// measure looks at what the process uses once it has collected.
func (r *run) measure() (u Use) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.Heap, u.Objects, u.Goroutines, u.UDP = m.HeapAlloc, m.HeapObjects, runtime.NumGoroutine(), r.udp.Load()
	for _, s := range r.seats {
		s.lock.Lock()
		n := s.network
		s.lock.Unlock()
		n.lock.Lock()
		u.Connections += len(n.conns)
		n.lock.Unlock()
	}
	return u
}

// Package enginetest proves that an engine.Engine keeps its promises. Every engine runs it.
package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hyroute/hyroute/node/engine"
	"github.com/hyroute/hyroute/runtime/address"
)

// Limit is how many entries the engine of Test must have room for, and no more.
const Limit = 100

// Test runs all tests. fresh makes an empty engine with room for Limit entries, which ends with the test.
func Test(t *testing.T, fresh func(t *testing.T) engine.Engine) {
	for name, test := range map[string]func(*testing.T, engine.Engine){
		"publish reaches exactly the subscribers":   testPublish,
		"a second subscription changes nothing":     testSubscribeTwice,
		"unsubscribing takes one receiver away":     testUnsubscribe,
		"refused messages are not counted":          testRefused,
		"messages stay in order":                    testOrder,
		"subscribing while publishing":              testConcurrentBus,
		"entries are created, replaced and removed": testEntries,
		"an error leaves the entry":                 testChangeFails,
		"entries are found by user and runtime":     testFind,
		"the store says when it is full":            testFull,
		"changes of one entry do not cross":         testConcurrentStore,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

type inbox struct {
	mu       sync.Mutex
	refuse   bool
	messages []string
}

func (i *inbox) Receive(message []byte) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.refuse {
		return false
	}
	i.messages = append(i.messages, string(message))
	return true
}

func (i *inbox) expect(t *testing.T, want ...string) {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Equal(i.messages, want) {
		t.Errorf("got %q, want %q", i.messages, want)
	}
}

func publish(t *testing.T, e engine.Engine, to address.Address, message string, want int) {
	t.Helper()
	if taken, err := e.Publish(to, []byte(message)); err != nil || taken != want {
		t.Errorf("publishing %q to %s: taken by %d, %v; want %d", message, to, taken, err, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func url(i int) address.Address {
	return address.MustParse(fmt.Sprintf("hyperty://a.example/%03d", i))
}

func testPublish(t *testing.T, e engine.Engine) {
	var one, two inbox
	must(t, e.Subscribe(url(1), &one))
	must(t, e.Subscribe(url(1), &two))
	must(t, e.Subscribe(url(2), &two))
	publish(t, e, url(1), "a", 2)
	publish(t, e, url(2), "b", 1)
	publish(t, e, url(3), "c", 0)
	publish(t, e, url(1).Join("changes"), "d", 0)
	one.expect(t, "a")
	two.expect(t, "a", "b")
}

func testSubscribeTwice(t *testing.T, e engine.Engine) {
	var one inbox
	must(t, e.Subscribe(url(1), &one))
	must(t, e.Subscribe(url(1), &one))
	publish(t, e, url(1), "a", 1)
	must(t, e.Unsubscribe(url(1), &one))
	publish(t, e, url(1), "b", 0)
	one.expect(t, "a")
}

func testUnsubscribe(t *testing.T, e engine.Engine) {
	boxes := make([]inbox, 3)
	for i := range boxes {
		must(t, e.Subscribe(url(1), &boxes[i]))
	}
	must(t, e.Unsubscribe(url(1), &boxes[1]))
	must(t, e.Unsubscribe(url(1), &boxes[1]))
	must(t, e.Unsubscribe(url(2), &boxes[0]))
	publish(t, e, url(1), "a", 2)
	boxes[0].expect(t, "a")
	boxes[1].expect(t)
	boxes[2].expect(t, "a")
}

func testRefused(t *testing.T, e engine.Engine) {
	one, two := inbox{refuse: true}, inbox{}
	must(t, e.Subscribe(url(1), &one))
	must(t, e.Subscribe(url(1), &two))
	publish(t, e, url(1), "a", 1)
	two.expect(t, "a")
}

func testOrder(t *testing.T, e engine.Engine) {
	var one inbox
	var want []string
	must(t, e.Subscribe(url(1), &one))
	for i := range 1000 {
		want = append(want, fmt.Sprint(i))
		publish(t, e, url(1), want[i], 1)
	}
	one.expect(t, want...)
}

func testConcurrentBus(t *testing.T, e engine.Engine) {
	var steady inbox
	must(t, e.Subscribe(url(1), &steady))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			var mine inbox
			for range 200 {
				if err := errors.Join(e.Subscribe(url(1), &mine), e.Unsubscribe(url(1), &mine)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		if taken, err := e.Publish(url(1), []byte("x")); err != nil || taken < 1 || taken > 5 {
			t.Errorf("taken by %d, %v", taken, err)
		}
	}
	group.Wait()
	publish(t, e, url(1), "last", 1)
	if n := len(steady.messages); n != 201 {
		t.Errorf("got %d of 201", n)
	}
}

func entry(i int, runtime, user string) *engine.Entry {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &engine.Entry{
		URL: url(i), Runtime: address.MustParse(runtime), User: user, Live: true, Sessions: true, Expires: time.Hour,
		Created: at, Modified: at, Extra: []byte(`{"x":1}`),
	}
}

const (
	runtimeA = "runtime://a.example/a"
	runtimeB = "runtime://a.example/b"
)

func put(t *testing.T, e engine.Engine, want *engine.Entry) {
	t.Helper()
	must(t, e.Change(want.URL, func(*engine.Entry) (*engine.Entry, error) { return want, nil }))
}

func same(a, b engine.Entry) bool {
	return a.URL == b.URL && a.Runtime == b.Runtime && a.User == b.User && a.Live == b.Live && a.Absent == b.Absent && a.Sessions == b.Sessions &&
		a.Expires == b.Expires && a.Created.Equal(b.Created) && a.Modified.Equal(b.Modified) && string(a.Extra) == string(b.Extra)
}

func testEntries(t *testing.T, e engine.Engine) {
	if _, err := e.Read(url(1)); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("reading nothing: %v", err)
	}
	first := entry(1, runtimeA, "")
	must(t, e.Change(url(1), func(current *engine.Entry) (*engine.Entry, error) {
		if current != nil {
			t.Errorf("there is %v already", current)
		}
		return first, nil
	}))
	if got, err := e.Read(url(1)); err != nil || !same(got, *first) {
		t.Errorf("read %v, %v", got, err)
	}
	second := *first
	second.Live, second.Absent, second.Modified = false, true, first.Modified.Add(time.Minute)
	must(t, e.Change(url(1), func(current *engine.Entry) (*engine.Entry, error) {
		if current == nil || !same(*current, *first) {
			t.Errorf("current is %v", current)
		}
		return &second, nil
	}))
	if got, err := e.Read(url(1)); err != nil || !same(got, second) {
		t.Errorf("read %v, %v", got, err)
	}
	must(t, e.Change(url(1), func(*engine.Entry) (*engine.Entry, error) { return nil, nil }))
	if _, err := e.Read(url(1)); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("reading what was removed: %v", err)
	}
	must(t, e.Change(url(1), func(current *engine.Entry) (*engine.Entry, error) { return current, nil }))
}

func testChangeFails(t *testing.T, e engine.Engine) {
	first := entry(1, runtimeA, "user://a.example/u")
	put(t, e, first)
	no := errors.New("no")
	err := e.Change(url(1), func(current *engine.Entry) (*engine.Entry, error) {
		current.Live = false
		return entry(1, runtimeB, ""), no
	})
	if err != no {
		t.Errorf("error is %v", err)
	}
	if got, err := e.Read(url(1)); err != nil || !same(got, *first) {
		t.Errorf("read %v, %v", got, err)
	}
}

func testFind(t *testing.T, e engine.Engine) {
	for i := 9; i >= 0; i-- {
		user := ""
		if i%3 == 0 {
			user = "user://a.example/u"
		}
		put(t, e, entry(i, []string{runtimeA, runtimeB}[i%2], user))
	}
	put(t, e, entry(2, runtimeB, ""))
	must(t, e.Change(url(3), func(*engine.Entry) (*engine.Entry, error) { return nil, nil }))
	for _, test := range []struct {
		by   engine.Query
		want []int
	}{
		{engine.Query{Runtime: address.MustParse(runtimeA)}, []int{0, 4, 6, 8}},
		{engine.Query{Runtime: address.MustParse(runtimeB)}, []int{1, 2, 5, 7, 9}},
		{engine.Query{User: "user://a.example/u"}, []int{0, 6, 9}},
		{engine.Query{User: "user://a.example/nobody"}, nil},
		{engine.Query{Runtime: address.MustParse("runtime://a.example/nobody")}, nil},
	} {
		found, err := e.Find(test.by)
		must(t, err)
		var got []int
		for _, f := range found {
			for i := range 10 {
				if f.URL == url(i) {
					got = append(got, i)
				}
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v finds %v, want %v", test.by, got, test.want)
		}
	}
}

func testFull(t *testing.T, e engine.Engine) {
	for i := range Limit {
		put(t, e, entry(i, runtimeA, ""))
	}
	err := e.Change(url(Limit), func(*engine.Entry) (*engine.Entry, error) { return entry(Limit, runtimeA, ""), nil })
	if !errors.Is(err, engine.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	put(t, e, entry(0, runtimeB, ""))
	must(t, e.Change(url(1), func(*engine.Entry) (*engine.Entry, error) { return nil, nil }))
	put(t, e, entry(Limit, runtimeA, ""))
}

func testConcurrentStore(t *testing.T, e engine.Engine) {
	put(t, e, entry(1, runtimeA, ""))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				if err := e.Change(url(1), func(current *engine.Entry) (*engine.Entry, error) {
					next := *current
					next.Expires++
					return &next, nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got, err := e.Read(url(1)); err != nil || got.Expires != time.Hour+400 {
		t.Errorf("%d changes were lost, %v", 400-(got.Expires-time.Hour), err)
	}
}

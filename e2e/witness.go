//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hyroute/hyroute/e2e/lan"
	"github.com/hyroute/hyroute/scenarios/history"
)

// witness keeps the history of a page that is going to die. Times are the stage's, of when a record came here.
type witness struct {
	url    string
	server *http.Server
	since  func() time.Duration

	lock  sync.Mutex
	lives []map[int]history.Record // of each life of the page, by number
	ends  []int                    // of each life that ended: so many records it told
	more  chan struct{}            // closed with the next that comes
}

func newWitness(since func() time.Duration) (*witness, error) {
	listener, err := net.Listen("tcp", lan.NodeIP+":0")
	if err != nil {
		return nil, fmt.Errorf("listen for a page's records: %w", err)
	}
	w := &witness{url: "http://" + listener.Addr().String() + "/", since: since, more: make(chan struct{})}
	w.server = &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second}
	go w.server.Serve(listener)
	return w, nil
}

// life is the URL for the records of the page's next life.
func (w *witness) life() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.lives = append(w.lives, map[int]history.Record{})
	return w.url + strconv.Itoa(len(w.lives)-1) + "/"
}

// forgot notes that the life which begins next knows nothing of the ones before.
func (w *witness) forgot() {
	end := ""
	if before := w.all(); len(before) > 0 {
		end = before[0].End
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.lives = append(w.lives, map[int]history.Record{0: {At: uint64(w.since().Milliseconds()), End: end, Kind: history.Started}})
}

// ServeHTTP takes one record, at life/number: they do not come in order.
func (w *witness) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	answer.Header().Set("Access-Control-Allow-Origin", "*")
	if strings.HasSuffix(r.URL.Path, "/end") {
		told, err := io.ReadAll(r.Body)
		count, failed := strconv.Atoi(string(told))
		if err != nil || failed != nil {
			http.Error(answer, "this is no end", http.StatusBadRequest)
			return
		}
		w.lock.Lock()
		defer w.lock.Unlock()
		w.ends = append(w.ends, count)
		close(w.more)
		w.more = make(chan struct{})
		return
	}
	records, err := history.Read(r.Body)
	var life, number int
	if _, failed := fmt.Sscanf(r.URL.Path, "/%d/%d", &life, &number); err != nil || failed != nil || len(records) != 1 {
		http.Error(answer, "this is no record", http.StatusBadRequest)
		return
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	if life < len(w.lives) {
		records[0].At = uint64(w.since().Milliseconds())
		w.lives[life][number] = records[0]
		close(w.more)
		w.more = make(chan struct{})
	}
}

// end waits until so many lives of the page have said that they end, and what the last one told before is here.
func (w *witness) end(ctx context.Context, lives int) error {
	for {
		w.lock.Lock()
		ended, more := len(w.ends) >= lives && len(w.lives[lives-1]) >= w.ends[lives-1], w.more
		w.lock.Unlock()
		if ended {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("waiting for a page's end: %w", ctx.Err())
		}
	}
}

// complete waits until so many records of the page's newest life are here.
func (w *witness) complete(ctx context.Context, count int) error {
	for {
		w.lock.Lock()
		known, more := 0, w.more
		if len(w.lives) > 0 {
			known = len(w.lives[len(w.lives)-1])
		}
		w.lock.Unlock()
		if known >= count {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d records came: %w", known, count, ctx.Err())
		}
	}
}

// all are the records so far, in the order in which the page saw what they say.
func (w *witness) all() (all []history.Record) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, life := range w.lives {
		for _, number := range slices.Sorted(maps.Keys(life)) {
			all = append(all, life[number])
		}
	}
	return all
}

// posted is how many messages the page has posted.
func (w *witness) posted() (n int) {
	for _, r := range w.all() {
		if r.Kind == history.Posted {
			n++
		}
	}
	return n
}

func (w *witness) close() error {
	if err := w.server.Close(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hyroute/hyroute/e2e/lan"
	"github.com/hyroute/hyroute/scenarios/history"
)

// witness keeps the history of a page that is going to die: the page waits at each record until it is here, so that it
// can not do anything that nobody knows of. Times are the stage's.
type witness struct {
	url    string
	server *http.Server
	since  func() time.Duration

	lock    sync.Mutex
	records []history.Record
}

func newWitness(since func() time.Duration) (*witness, error) {
	listener, err := net.Listen("tcp", lan.NodeIP+":0")
	if err != nil {
		return nil, fmt.Errorf("listen for a page's records: %w", err)
	}
	w := &witness{url: "http://" + listener.Addr().String() + "/", since: since}
	w.server = &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second}
	go w.server.Serve(listener)
	return w, nil
}

// ServeHTTP takes one record.
func (w *witness) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	answer.Header().Set("Access-Control-Allow-Origin", "*")
	records, err := history.Read(r.Body)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, record := range records {
		record.At = uint64(w.since().Milliseconds())
		w.records = append(w.records, record)
	}
}

func (w *witness) all() []history.Record {
	w.lock.Lock()
	defer w.lock.Unlock()
	return slices.Clone(w.records)
}

// begin notes that the page starts with no memory of what it did before.
func (w *witness) begin() {
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.records) > 0 {
		w.records = append(w.records, history.Record{At: uint64(w.since().Milliseconds()), End: w.records[0].End, Kind: history.Started})
	}
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

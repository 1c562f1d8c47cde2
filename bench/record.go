//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// result is one line of the file of results: what one round gave of one part of one subject.
type result struct {
	Part    string             `json:"part"`
	Subject string             `json:"subject,omitempty"`
	Round   int                `json:"round,omitempty"`
	Size    int                `json:"size,omitempty"` // of the messages, in bytes
	Case    string             `json:"case,omitempty"`
	Values  map[string]float64 `json:"values,omitempty"`
	Text    string             `json:"text,omitempty"` // of a result without values: what went wrong; of others: what else there is to say
}

// record gathers results, and writes them down at once.
type record struct {
	file io.WriteCloser

	lock    sync.Mutex
	results []result
	err     error
}

func (r *record) add(one result) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.results = append(r.results, one)
	line, err := json.Marshal(one)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	r.err = errors.Join(r.err, err)
}

func (r *record) close() error { return errors.Join(r.err, r.file.Close()) }

// failed is an error if something could not be measured.
func (r *record) failed() error {
	count := 0
	for _, one := range r.results {
		if one.Part != "about" && one.Values == nil {
			count++
		}
	}
	if count > 0 {
		return fmt.Errorf("%d measurements failed", count)
	}
	return nil
}

// printFile prints the tables of a file of results.
func printFile(w io.Writer, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	r := &record{}
	for lines := json.NewDecoder(file); ; {
		var one result
		if err := lines.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.results = append(r.results, one)
	}
	r.print(w)
	return nil
}

// of are the values of one name, one a round, in order of size.
func (r *record) of(where result, name string) []float64 {
	var values []float64
	for _, one := range r.results {
		value, ok := one.Values[name]
		if ok && one.Part == where.Part && one.Subject == where.Subject && one.Size == where.Size && one.Case == where.Case {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return values
}

// measured are the subjects that a part has results of, in the order of subjects.
func (r *record) measured(where result) []subject {
	var found []subject
	for _, s := range subjects {
		if slices.ContainsFunc(r.results, func(one result) bool {
			return one.Values != nil && one.Part == where.Part && one.Subject == s.name && one.Size == where.Size && one.Case == where.Case
		}) {
			found = append(found, s)
		}
	}
	return found
}

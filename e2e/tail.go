//go:build linux

package main

import "sync"

// tailSize is how much of a log is kept.
const tailSize = 4 << 20

// tail keeps the end of what is written to it.
type tail struct {
	lock sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > 2*tailSize {
		t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return string(t.text[max(0, len(t.text)-tailSize):])
}

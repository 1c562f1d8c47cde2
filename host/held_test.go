package host

import (
	"bytes"
	"testing"

	"github.com/hyroute/hyroute/runtime/engine"
)

func TestHeldChunks(t *testing.T) {
	var h held
	for n, c := range []string{"", "a", "bc", "def"} {
		h.keep(1, uint64(n), []byte(c))
	}
	if _, err := h.take(1, 1, 4); err == nil {
		t.Error("a chunk that is not here was taken")
	}
	h.settle()
	if len(h.chunks[1]) != 1 {
		t.Errorf("%d chunks are left of a message that can not be read", len(h.chunks[1]))
	}
	h.keep(1, 1, []byte("a"))
	h.keep(1, 2, []byte("bc"))
	if b, err := h.take(1, 0, 2); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	if len(h.chunks) != 0 || len(h.latest) != 0 {
		t.Error("an empty session is kept")
	}
	h.keep(1, 5, []byte("x"))
	h.drop(1, 0, 1<<62)
	h.drop(2, 0, 5)
	if len(h.chunks) != 0 || len(h.latest) != 0 {
		t.Error("dropped chunks are kept")
	}
}

// What comes in order is taken in order, from wherever it lies.
func TestHeldChunksInTurn(t *testing.T) {
	var h held
	for n := range uint64(6) {
		h.keep(1, n, []byte{byte(n)})
	}
	h.keep(2, 0, []byte{9})
	for _, want := range []chunk{{1, 0, []byte{0}}, {1, 1, []byte{1}}, {1, 3, []byte{3}}, {2, 0, []byte{9}}, {1, 2, []byte{2}}} {
		if b, err := h.take(want.session, want.number, want.number); err != nil || !bytes.Equal(b, want.bytes) {
			t.Errorf("%v, %v instead of %v", b, err, want)
		}
		if b, err := h.take(want.session, want.number, want.number); err == nil {
			t.Errorf("%v was there twice", b)
		}
	}
	if b, err := h.take(1, 4, 5); err != nil || len(b) != 2 || len(h.chunks) != 0 || len(h.latest) != 0 {
		t.Errorf("%v, %v; left are %v and %v", b, err, h.chunks, h.latest)
	}
}

func TestFramesOfAStep(t *testing.T) {
	var f frames
	one, two := f.add([]byte("one")), f.add([]byte("two"))
	if b, ok := f.slice(&engine.Hold{Frame: two, Offset: 1, Length: 2}); !ok || string(b) != "wo" {
		t.Errorf("%q %v", b, ok)
	}
	for _, h := range []engine.Hold{
		{Frame: 0, Length: 1}, {Frame: two + 1}, {Frame: one, Offset: 2, Length: 2}, {Frame: one, Offset: -1, Length: 1}, {Frame: one, Offset: 1, Length: -1},
	} {
		if _, ok := f.slice(&h); ok {
			t.Errorf("%+v was taken", h)
		}
	}
	f.clear()
	if _, ok := f.slice(&engine.Hold{Frame: one, Length: 1}); ok {
		t.Error("a frame of the step before was taken")
	}
	if next := f.add(nil); next != two+1 {
		t.Errorf("number %d comes again", next)
	}
}

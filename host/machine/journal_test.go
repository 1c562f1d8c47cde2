package machine

import (
	"bytes"
	"strings"
	"testing"
)

func TestJournalIsBounded(t *testing.T) {
	j := newJournal(3, 100)
	j.begin(true, []byte("open\n"))
	for _, frame := range []string{"a", "", "bc"} {
		if j.full() {
			t.Errorf("full before the third frame")
		}
		j.add([]byte(frame))
	}
	var got []string
	for frame := range j.frames() {
		got = append(got, string(frame))
	}
	if strings.Join(got, "|") != "a||bc" || !j.full() {
		t.Errorf("frames %q, full %v", got, j.full())
	}
	j.begin(false, make([]byte, 50))
	if j.full() || len(j.ends) != 0 || j.opened {
		t.Errorf("a new beginning has something of the old one: %+v", j)
	}
	j.add(bytes.Repeat([]byte("x"), 100))
	if !j.full() {
		t.Errorf("not full at its limit in bytes")
	}
	j.begin(false, make([]byte, 500))
	j.add(bytes.Repeat([]byte("x"), 499))
	if j.full() {
		t.Errorf("a journal shorter than its snapshot is full")
	}
	j.add([]byte("x"))
	if !j.full() {
		t.Errorf("a journal as long as its snapshot is not full")
	}
	if !j.extend() || j.full() {
		t.Errorf("could not be made longer")
	}
	j.text = make([]byte, mostJournalBytes)
	if j.extend() {
		t.Errorf("longer than the most")
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var end tail
	for range 1000 {
		if n, err := end.Write([]byte("0123456789")); n != 10 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if len(end.text) > 2*tailSize || !strings.HasSuffix(string(end.text), "56789") {
		t.Errorf("%d bytes kept", len(end.text))
	}
}

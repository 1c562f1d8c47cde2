package history

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestLinesRoundTrip(t *testing.T) {
	rs := []Record{
		{At: 1, End: "runtime://d/a", Kind: Started},
		{At: 2, End: "runtime://d/a", Kind: Posted, Message: "m<1>", From: "hyperty://d/a", To: "hyperty://d/b", Lane: "files", Content: "abc"},
		{At: 3, End: "runtime://d/b", Kind: Delivered, Message: "m<1>", From: "hyperty://d/a", To: "hyperty://d/b", Content: "abc", Path: "direct", Session: 7},
		{At: 4, End: "runtime://d/a", Kind: Settled, Message: "m<1>", Outcome: OutcomeRejected, Reason: "expired", Maybe: true},
		{At: 5, End: "runtime://d/a", Kind: Reset, Peer: "runtime://d/b", Session: 2},
		{At: 6, End: "runtime://d/b", Kind: Gap, Peer: "runtime://d/a", Session: 7},
	}
	var b bytes.Buffer
	if err := Write(&b, rs...); err != nil {
		t.Fatal(err)
	}
	got, err := Read(strings.NewReader(b.String() + "\n"))
	if err != nil || !reflect.DeepEqual(got, rs) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestReadSaysWhichLineIsWrong(t *testing.T) {
	ok := `{"at":1,"end":"a","kind":"started"}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"no object":    {ok + "[]\n", "line 2"},
		"unknown kind": {ok + ok + `{"at":1,"end":"a","kind":"lost"}` + "\n", `line 3: unknown kind "lost"`},
		"no kind":      {`{"at":1,"end":"a"}` + "\n", "line 1: unknown kind"},
		"too long":     {ok + strings.Repeat("x", MaxLine+1) + "\n", "line 2: longer"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestReadTakesWhatACutFileHas(t *testing.T) {
	ok := `{"at":1,"end":"a","kind":"started"}` + "\n"
	rs, err := Read(strings.NewReader(ok + ok + `{"at":1,"e`))
	if len(rs) != 2 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %d records, %v", len(rs), err)
	}
	if rs, err := Read(strings.NewReader(strings.TrimSpace(ok))); len(rs) != 1 || err != nil {
		t.Errorf("a last line without its end: got %d records, %v", len(rs), err)
	}
}

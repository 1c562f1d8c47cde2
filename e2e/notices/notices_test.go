package notices_test

import (
	"reflect"
	"testing"

	"github.com/hyroute/hyroute/e2e/notices"
	"github.com/hyroute/hyroute/scenarios/history"
)

func TestResetsAndGapsAreRead(t *testing.T) {
	var got []history.Record
	w := &notices.Writer{End: "me", Log: func(r history.Record) { got = append(got, r) }}
	const peer = "runtime://localhost/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for _, block := range []string{
		"\nat now=5\ntime-passed\n----\nwake at=7\n",
		"\nat now=7\ntime-passed\n----\nsession-reset peer=" + peer + " session=3 doubt=2 reason=peer-lost-state\ngap peer=" + peer + " session=4\nwake at=9\n",
	} {
		if n, err := w.Write([]byte(block)); err != nil || n != len(block) {
			t.Fatalf("%d %v", n, err)
		}
	}
	want := []history.Record{
		{Kind: history.Reset, End: "me", Peer: peer, Session: 3},
		{Kind: history.Gap, End: "me", Peer: peer, Session: 4},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

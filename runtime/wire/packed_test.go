package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// TestPackedRoundTrip packs every event and effect with values of all sizes, alone and together, and gets them back.
func TestPackedRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var p Packer
	var u Unpacker
	for round := range 300 {
		events, effects := allEvents(), allEffects()
		for _, e := range events {
			fill(t, r, reflect.ValueOf(e).Elem())
		}
		for _, e := range effects {
			fill(t, r, reflect.ValueOf(e).Elem())
		}
		now, gotEvents, err := u.Frame(p.AppendFrame(nil, round%7 == 0, 5, events...))
		if err != nil || now != 5 || !bytes.Equal(AppendFrame(nil, 5, gotEvents...), AppendFrame(nil, 5, events...)) {
			t.Fatalf("%s\ncame back as\n%s\n%v", AppendFrame(nil, 5, events...), AppendFrame(nil, now, gotEvents...), err)
		}
		got, err := u.Effects(p.AppendEffects(nil, effects))
		if err != nil || !reflect.DeepEqual(got, effects) {
			t.Fatalf("%s\ncame back as\n%s\n%v", AppendEffects(nil, effects), AppendEffects(nil, got), err)
		}
	}
}

// burst is what a Step with many small messages says: runs of all kinds, and what breaks them.
func burst() (events []engine.Event, effects []engine.Effect) {
	from, to := address.MustParse("hyperty://a.example/alice"), address.MustParse("hyperty://b.example/bob")
	for i := range uint64(40) {
		events = append(events, &engine.DeliveryTaken{Delivery: 7 + i + i/10})
		effects = append(effects, &engine.Hold{Session: 3, Number: 100 + i, Frame: 9, Offset: 200 * int(i), Length: 200})
	}
	for i := range uint64(40) {
		e := &engine.Deliver{Delivery: 7 + i + i/10, Session: 3, First: 100 + i, Last: 100 + i, From: from, To: to, Path: "direct"}
		if i%13 == 12 {
			e.From, e.To = e.To, e.From
		}
		if i%7 == 6 {
			e.Last++
		}
		effects = append(effects, e)
	}
	for i := range uint64(40) {
		s := &engine.Settle{Msg: 500 + i + i/15, Outcome: "delivered"}
		if i%9 == 8 {
			s.Maybe = true
		}
		effects = append(effects, s)
		if i%11 != 10 {
			effects = append(effects, &engine.Release{Msg: s.Msg})
		}
	}
	return events, effects
}

func TestPackedRuns(t *testing.T) {
	events, effects := burst()
	var p Packer
	var u Unpacker
	packed := p.AppendFrame(nil, true, 1, events...)
	if _, got, err := u.Frame(packed); err != nil || !reflect.DeepEqual(got, events) {
		t.Errorf("%s (%v)", AppendFrame(nil, 1, got...), err)
	}
	if len(packed) > 20 {
		t.Errorf("40 deliveries taken in four runs are %d bytes", len(packed))
	}
	packed = p.AppendEffects(nil, effects)
	got, err := u.Effects(packed)
	if err != nil || !reflect.DeepEqual(got, effects) {
		t.Errorf("%s (%v)", AppendEffects(nil, got), err)
	}
	if text := AppendEffects(nil, effects); len(packed)*4 > len(text) {
		t.Errorf("packed it is %d bytes, as text %d", len(packed), len(text))
	}
}

// TestHandlesAreBounded uses far more addresses than there are handles.
func TestHandlesAreBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var p Packer
	var u Unpacker
	name := func() address.Address {
		return address.MustParse(fmt.Sprintf("hyperty://a.example/%d", r.IntN(3*MaxHandles)))
	}
	for range 200 {
		var events []engine.Event
		for range 50 {
			events = append(events, &engine.MessagePosted{Msg: 1, From: name(), To: name()})
		}
		_, got, err := u.Frame(p.AppendFrame(nil, false, 1, events...))
		if err != nil || !reflect.DeepEqual(got, events) {
			t.Fatal(err)
		}
		if len(p.handles) >= MaxHandles || len(u.named) > MaxHandles {
			t.Fatalf("%d and %d handles", len(p.handles), len(u.named))
		}
	}
}

// TestRefusedFrameDefinesNothing: what was wrong changed nothing.
func TestRefusedFrameDefinesNothing(t *testing.T) {
	a, b := address.MustParse("hyperty://a.example/a"), address.MustParse("hyperty://a.example/b")
	var p, other Packer
	var u Unpacker
	if _, _, err := u.Frame(p.AppendFrame(nil, false, 1, &engine.MessagePosted{Msg: 1, From: a, To: b})); err != nil {
		t.Fatal(err)
	}
	for _, anew := range []bool{false, true} {
		bad := append(other.AppendFrame(nil, anew, 1, &engine.MessagePosted{Msg: 1, From: b, To: a}), 99)
		if _, _, err := u.Frame(bad); err == nil {
			t.Fatal("taken")
		}
	}
	_, events, err := u.Frame(p.AppendFrame(nil, false, 1, &engine.MessagePosted{Msg: 1, From: a, To: b}))
	if err != nil || events[0].(*engine.MessagePosted).From != a || events[0].(*engine.MessagePosted).To != b {
		t.Errorf("%s (%v)", AppendFrame(nil, 1, events...), err)
	}
}

// FuzzPacked reads any bytes as packed frames and effects: what is taken means the same as its text, and survives packing again.
func FuzzPacked(f *testing.F) {
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		f.Fatal(err)
	}
	var d Decoder
	var p Packer
	for _, row := range strings.Split(string(text), "\n") {
		if line, ok := strings.CutPrefix(row, "event ok "); ok {
			if e, err := d.Event([]byte(line)); err == nil {
				f.Add(p.AppendFrame(nil, true, 1, e))
			}
		}
		if line, ok := strings.CutPrefix(row, "effect ok "); ok {
			if e, err := d.Effect([]byte(line)); err == nil {
				p.Forget()
				f.Add(p.AppendEffects(nil, []engine.Effect{e}))
			}
		}
	}
	events, effects := burst()
	f.Add(p.AppendFrame(nil, true, 1, events...))
	p.Forget()
	f.Add(p.AppendEffects(nil, effects))
	f.Fuzz(func(t *testing.T, in []byte) {
		var u Unpacker
		var d Decoder
		if now, events, err := u.Frame(in); err == nil {
			want := AppendFrame(nil, now, events...)
			_, fromText, err := d.Frame(want)
			if err != nil || !reflect.DeepEqual(fromText, events) && len(events) > 0 {
				t.Errorf("%q means %q, which is read otherwise (%v)", in, want, err)
			}
			var p Packer
			now, again, err := new(Unpacker).Frame(p.AppendFrame(nil, false, now, events...))
			if got := AppendFrame(nil, now, again...); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%q means %q, and packed again %q (%v)", in, want, got, err)
			}
		}
		if effects, err := new(Unpacker).Effects(in); err == nil {
			want := AppendEffects(nil, effects)
			fromText, err := d.Effects(want)
			if err != nil || !reflect.DeepEqual(fromText, effects) && len(effects) > 0 {
				t.Errorf("%q means %q, which is read otherwise (%v)", in, want, err)
			}
			var p Packer
			again, err := new(Unpacker).Effects(p.AppendEffects(nil, effects))
			if got := AppendEffects(nil, again); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%q means %q, and packed again %q (%v)", in, want, got, err)
			}
		}
	})
}

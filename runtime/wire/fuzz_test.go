package wire

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/runtime/engine"
)

// FuzzWire reads any bytes as a frame, as effects and as an open line. What is taken has one form: what is written of it
// is read as the same, and is written again as the same bytes. Where no address had to be put in canonical form, it is the
// input itself.
func FuzzWire(f *testing.F) {
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, row := range strings.Split(string(text), "\n") {
		kind, rest, _ := strings.Cut(row, " ")
		_, line, ok := strings.Cut(rest, " ")
		switch {
		case !ok:
		case kind == "event":
			f.Add([]byte("at now=1\n" + line + "\n"))
		default:
			f.Add([]byte(line + "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var d, fresh Decoder
		if now, events, err := d.Frame(in); err == nil {
			out := AppendFrame(nil, now, events...)
			sameButForAddresses(t, in, out)
			again, events, err := fresh.Frame(out)
			if err != nil || !bytes.Equal(AppendFrame(nil, again, events...), out) {
				t.Errorf("%q was written as %q, which is read otherwise (%v)", in, out, err)
			}
		}
		if effects, err := d.Effects(in); err == nil {
			out := AppendEffects(nil, effects)
			sameButForAddresses(t, in, out)
			effects, err := fresh.Effects(out)
			if err != nil || !bytes.Equal(AppendEffects(nil, effects), out) {
				t.Errorf("%q was written as %q, which is read otherwise (%v)", in, out, err)
			}
		}
		if c, err := d.Open(in); err == nil {
			out := AppendOpen(nil, c)
			again, err := fresh.Open(out)
			if err != nil || !bytes.Equal(AppendOpen(nil, again), out) {
				t.Errorf("%q was written as %q, which is read otherwise (%v)", in, out, err)
			}
		}
	})
}

func sameButForAddresses(t *testing.T, in, out []byte) {
	t.Helper()
	if !bytes.Equal(in, out) && !bytes.Contains(in, []byte("://")) {
		t.Errorf("%q was taken, but is written %q", in, out)
	}
}

// The frame and the effects of one message that goes out on a short frame, and of one that comes in.
func typical() (now engine.Instant, events []engine.Event, effects []engine.Effect) {
	var d Decoder
	now, events, err := d.Frame([]byte("at now=123456\n" +
		"message-posted msg=17 from=hyperty://a.example/alice to=hyperty://b.example/bob size=200\n"))
	if err != nil {
		panic(err)
	}
	effects, err = d.Effects([]byte("transmit stub=1 handle=1 head=0f52a1b2c3d48012340040118001234503 parts=17:0:200\n" +
		"wake at=124456\n"))
	if err != nil {
		panic(err)
	}
	return now, events, effects
}

func BenchmarkAppendFrame(b *testing.B) {
	now, events, _ := typical()
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		buffer = AppendFrame(buffer[:0], now, events...)
	}
}

func BenchmarkReadFrame(b *testing.B) {
	now, events, _ := typical()
	text := AppendFrame(nil, now, events...)
	var d Decoder
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Frame(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendEffects(b *testing.B) {
	_, _, effects := typical()
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		buffer = AppendEffects(buffer[:0], effects)
	}
}

func BenchmarkReadEffects(b *testing.B) {
	_, _, effects := typical()
	text := AppendEffects(nil, effects)
	var d Decoder
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Effects(text); err != nil {
			b.Fatal(err)
		}
	}
}

// TestAllocations: a message costs what is kept of it, and nothing for the reading.
func TestAllocations(t *testing.T) {
	now, events, effects := typical()
	frame, text := AppendFrame(nil, now, events...), AppendEffects(nil, effects)
	buffer := make([]byte, 0, 4096)
	var d Decoder
	tests := []struct {
		name string
		most float64
		do   func()
	}{
		{"write frame", 0, func() { AppendFrame(buffer, now, events...) }},
		{"write effects", 0, func() { AppendEffects(buffer, effects) }},
		{"read frame", 1, func() { d.Frame(frame) }},
		{"read effects", 4, func() { d.Effects(text) }}, // two effects, head, parts
	}
	for _, test := range tests {
		if n := testing.AllocsPerRun(100, test.do); n > test.most {
			t.Errorf("%s: %v allocations, at most %v are needed", test.name, n, test.most)
		}
	}
}

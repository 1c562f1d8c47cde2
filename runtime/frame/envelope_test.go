package frame

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// envelopeVector says what ReadEnvelope makes of bytes. Other bodies read the same file.
type envelopeVector struct {
	Name    string `json:"name"`
	Hex     string `json:"hex"`
	Bad     bool   `json:"bad"` // can not be read
	Kind    byte   `json:"kind"`
	Handle  uint64 `json:"handle"`
	Runtime string `json:"runtime"`
	Reason  byte   `json:"reason"`
	Frame   string `json:"frame"` // hex
}

func envelopeVectors(t testing.TB) []envelopeVector {
	t.Helper()
	text, err := os.ReadFile("testdata/envelopes.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []envelopeVector
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 20 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	return vectors
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// appendEnvelope appends e as whoever sends such would.
func appendEnvelope(b []byte, e Envelope) []byte {
	switch e.Kind {
	case KindName:
		return AppendName(b, e.Handle, e.Runtime)
	case KindForward:
		return append(AppendForward(b, e.Handle), e.Frame...)
	}
	return AppendNotice(b, e.Handle, e.Reason, e.Frame)
}

func TestEnvelopeVectors(t *testing.T) {
	for _, v := range envelopeVectors(t) {
		b := unhex(t, v.Hex)
		e, err := ReadEnvelope(b)
		if v.Bad {
			if err == nil {
				t.Errorf("%s: read %+v", v.Name, e)
			}
			continue
		}
		if err != nil || e.Kind != v.Kind || e.Handle != v.Handle || e.Runtime != v.Runtime || e.Reason != v.Reason || hex.EncodeToString(e.Frame) != v.Frame {
			t.Errorf("%s: read %+v, %v", v.Name, e, err)
		}
		if got := appendEnvelope([]byte{7}, e); !bytes.Equal(got[1:], b) || got[0] != 7 {
			t.Errorf("%s: appended %x", v.Name, got)
		}
	}
}

func TestNoticeIsCut(t *testing.T) {
	long := bytes.Repeat([]byte{5}, 100)
	e, err := ReadEnvelope(AppendNotice(nil, 1, NoticeFull, long))
	if err != nil || !bytes.Equal(e.Frame, long[:NoticeHead]) {
		t.Errorf("read %+v, %v", e, err)
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, v := range envelopeVectors(f) {
		f.Add(unhex(f, v.Hex))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ReadEnvelope(b)
		if err != nil {
			return
		}
		again, err := ReadEnvelope(appendEnvelope(nil, e))
		if err != nil || again.Kind != e.Kind || again.Handle != e.Handle || again.Runtime != e.Runtime || again.Reason != e.Reason || !bytes.Equal(again.Frame, e.Frame) {
			t.Fatalf("%+v became %+v, %v", e, again, err)
		}
	})
}

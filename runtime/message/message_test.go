package message

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

// envelopeVector says what Parse makes of a text. Other bodies read the same file.
type envelopeVector struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Hex  string `json:"hex"` // in place of text, where it is not UTF-8

	Field string `json:"field"` // the one that is wrong; the rest is what was read all the same
	ID    uint64 `json:"id"`
	Type  string `json:"type"`
	From  string `json:"from"`
	To    string `json:"to"`
	Body  string `json:"body"`
}

func readVectors(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatal(path, err)
	}
}

func (v *envelopeVector) input(t testing.TB) []byte {
	t.Helper()
	if v.Hex == "" {
		return []byte(v.Text)
	}
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEnvelopeVectors(t *testing.T) {
	var vectors []envelopeVector
	readVectors(t, "testdata/envelopes.json", &vectors)
	if len(vectors) < 40 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			input := v.input(t)
			e, err := Parse(input)
			field := ""
			if err != nil {
				var wrong *Error
				if !errors.As(err, &wrong) || wrong.Problem == "" {
					t.Fatalf("%T %v is no *Error", err, err)
				}
				field = wrong.Field
			}
			if field != v.Field {
				t.Errorf("field %q (%v), want %q", field, err, v.Field)
			}
			if e.ID != v.ID || e.Type.String() != v.Type || e.From != v.From || e.To != v.To || string(e.Body) != v.Body {
				t.Errorf("read %d %q %q %q %q", e.ID, e.Type, e.From, e.To, e.Body)
			}
			if err == nil {
				checkRoundTrip(t, e)
			}
		})
	}
}

func checkRoundTrip(t testing.TB, e Envelope) {
	t.Helper()
	text := e.Append(nil)
	again, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if again.ID != e.ID || again.Type != e.Type || again.From != e.From || again.To != e.To || !bytes.Equal(again.Body, e.Body) {
		t.Fatalf("%s: read %+v, was %+v", text, again, e)
	}
	var theirs map[string]any
	if err := json.Unmarshal(text, &theirs); err != nil || theirs["from"] != e.From || theirs["to"] != e.To {
		t.Fatalf("encoding/json reads %s as %v, %v", text, theirs, err)
	}
}

func TestAppendEnvelope(t *testing.T) {
	e := Envelope{ID: MaxID, Type: ReOpen, From: "a\"\\\n\x00é\xff", To: "mn:/session", Body: []byte(`{"x":1}`)}
	want := `{"id":9007199254740991,"type":"re-open","from":"a\"\\\u000a\u0000é` + "\uFFFD" + `","to":"mn:/session","body":{"x":1}}`
	if got := string(e.Append([]byte("x"))); got != "x"+want {
		t.Errorf("%s", got)
	}
	e.Body = nil
	if got := string(e.Append(nil)); strings.Contains(got, "body") {
		t.Errorf("%s", got)
	}
}

func TestTypes(t *testing.T) {
	seen := map[string]bool{}
	for ty := Create; ty <= Ping; ty++ {
		name := ty.String()
		if name == "" || seen[name] || len(name) > longestTypeName {
			t.Errorf("type %d has name %q", ty, name)
		}
		seen[name] = true
		if TypeNamed(name) != ty || TypeNamed([]byte(strings.ToUpper(name))) != ty {
			t.Errorf("%q is not type %d", name, ty)
		}
	}
	for _, name := range []string{"", "none", "open ", "ope", "unsubscribed", "reopen", "__proto__", "\u017fubscribe"} {
		if ty := TypeNamed(name); ty != None {
			t.Errorf("%q is type %d", name, ty)
		}
	}
	if Type(200).String() != "" {
		t.Error("a number that is no type has a name")
	}
}

func TestDepth(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat("[", depth) + strings.Repeat("]", depth)
	}
	if !Valid([]byte(nested(MaxDepth))) || Valid([]byte(nested(MaxDepth+1))) || Valid([]byte(strings.Repeat("[", 1<<20))) {
		t.Error("the limit of Valid is elsewhere")
	}
	text := func(depth int) []byte {
		return []byte(`{"id":1,"type":"create","from":"a","to":"b","body":{"x":` + nested(depth) + `}}`)
	}
	if _, err := Parse(text(MaxDepth - 2)); err != nil {
		t.Error(err)
	}
	var wrong *Error
	if _, err := Parse(text(MaxDepth - 1)); !errors.As(err, &wrong) || wrong.Field != "body" || !strings.HasPrefix(wrong.Problem, "deeper than") {
		t.Errorf("%v", err)
	}
}

func TestManyKeys(t *testing.T) {
	text := func(n int) []byte {
		b := []byte(`{"id":1,"type":"create","from":"a","to":"b"`)
		for i := range n {
			b = append(b, `,"k`+strconv.Itoa(i)+`":0`...)
		}
		return append(b, '}')
	}
	if _, err := Parse(text(maxKeys)); err != nil {
		t.Error(err)
	}
	if _, err := Parse(text(maxKeys + 1)); err == nil {
		t.Error("keys without bound are taken")
	}
}

// Valid and encoding/json agree but for what each is known to see differently.
func TestValidAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range []string{
		``, ` `, `null`, ` true `, `false`, `tru`, `truex`, `nul`, `0`, `-0`, `01`, `-`, `+1`, `1.`, `.5`, `1.5e`, `1.5e+`, `1.5E-10`, `1e5`, `--1`, `NaN`, `Infinity`, `0x1`,
		`""`, `"a`, `"\u12"`, `"\u12G4"`, `"\x"`, `"\ud800"`, `"\/"`, "\"\t\"", "\"\x7f\"", `"\`, `'a'`,
		`[]`, `[ ]`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `[1,2,[3]]`, `]`, `[1]]`, `[1}`,
		`{}`, `{ }`, `{"a":1}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":1,"a":2}`, `{1:2}`, `{"a":1]`, `{"a" : { "b" : [ ] } }`,
		"\xef\xbb\xbf{}", "\v1", `1 1`, `{}x`, "/**/1",
	} {
		if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("%q: %v, encoding/json says %v", text, got, want)
		}
	}
	if Valid([]byte("\"\xff\"")) {
		t.Error("a string that is not UTF-8 is valid")
	}
}

type contentVector struct {
	Name string `json:"name"`
	Hex  string `json:"hex"`
	Bad  bool   `json:"bad"` // can not be read

	Form     string `json:"form"`
	Request  bool   `json:"request"`
	Response bool   `json:"response"`
	ID       uint64 `json:"id"`
	Code     uint64 `json:"code"`
	Type     string `json:"type"`
	Body     string `json:"body"` // hex
}

func TestContentVectors(t *testing.T) {
	var vectors []contentVector
	readVectors(t, "testdata/contents.json", &vectors)
	if len(vectors) < 20 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	forms := map[string]Form{"bytes": Bytes, "text": Text, "json": JSON}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			b, err := hex.DecodeString(v.Hex)
			if err != nil {
				t.Fatal(err)
			}
			c, err := ReadContent(b)
			if v.Bad {
				if err == nil {
					t.Fatalf("read %+v", c)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := Content{Form: forms[v.Form], Request: v.Request, Response: v.Response, ID: v.ID, Code: v.Code, Type: TypeNamed(v.Type)}
			if c.Form != want.Form || c.Request != want.Request || c.Response != want.Response || c.ID != want.ID || c.Code != want.Code ||
				c.Type != want.Type || hex.EncodeToString(c.Body) != v.Body {
				t.Errorf("read %+v, want %+v", c, want)
			}
			again, err := c.Append([]byte{9})
			if err != nil || !bytes.Equal(again, append([]byte{9}, b...)) {
				t.Errorf("appends %x, %v", again, err)
			}
		})
	}
}

func TestContentAppendRefuses(t *testing.T) {
	for name, c := range map[string]Content{
		"form":     {Form: 3},
		"type":     {Type: Open},
		"both":     {Request: true, Response: true},
		"id":       {Request: true, ID: MaxNumber + 1},
		"code":     {Response: true, Code: MaxNumber + 1},
		"text":     {Form: Text, Body: []byte{0xff}},
		"JSON":     {Form: JSON, Body: []byte("{")},
		"no JSON":  {Form: JSON},
		"two JSON": {Form: JSON, Body: []byte("1 2")},
	} {
		if b, err := c.Append([]byte("x")); err == nil || string(b) != "x" {
			t.Errorf("%s: appends %x, %v", name, b, err)
		}
	}
}

// The smallest and the largest number of each length.
func TestContentNumbers(t *testing.T) {
	for _, n := range []uint64{0, 63, 64, 16383, 16384, 1<<30 - 1, 1 << 30, MaxNumber} {
		c := Content{Response: true, ID: n, Code: n, Type: Response}
		b, err := c.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadContent(b)
		if err != nil || got.ID != n || got.Code != n || len(got.Body) != 0 {
			t.Errorf("%d: read %+v, %v", n, got, err)
		}
		for i := range b {
			if _, err := ReadContent(b[:i]); err == nil {
				t.Errorf("%d: the first %d of %d bytes are taken", n, i, len(b))
			}
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	var vectors []envelopeVector
	readVectors(f, "testdata/envelopes.json", &vectors)
	for _, v := range vectors {
		f.Add(v.input(f))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Parse(b)
		if err != nil {
			return
		}
		if !json.Valid(b) {
			t.Fatalf("encoding/json refuses %q", b)
		}
		checkRoundTrip(t, e)
	})
}

func FuzzValid(f *testing.F) {
	f.Add([]byte(`{"a":[1,-2.5e+3,"\u00e9\n",null,true,false,{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs := Valid(b), json.Valid(b)
		if ours && !theirs {
			t.Fatalf("%q is taken", b)
		}
		if theirs && !ours && !bytes.ContainsFunc(b, func(r rune) bool { return r == '\uFFFD' }) && bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) < MaxDepth {
			t.Fatalf("%q is refused", b)
		}
	})
}

func FuzzContent(f *testing.F) {
	var vectors []contentVector
	readVectors(f, "testdata/contents.json", &vectors)
	for _, v := range vectors {
		b, _ := hex.DecodeString(v.Hex)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ReadContent(b)
		if err != nil {
			return
		}
		text, err := c.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadContent(text)
		if err != nil || again.ID != c.ID || again.Code != c.Code || again.Type != c.Type || again.Form != c.Form || !bytes.Equal(again.Body, c.Body) {
			t.Fatalf("%+v became %+v, %v", c, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(`{"id":2,"type":"create","from":"hyperty://localhost/h-b","to":"hyperty://localhost/h-a","body":{"value":{"hello":"A","list":[1,2,3],"nested":{"a":{"b":null}}}}}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func TestParseAllocatesOnlyItsStrings(t *testing.T) {
	text := []byte(`{"id":2,"type":"create","from":"hyperty://localhost/h-b","to":"hyperty://localhost/h-a","body":{"value":{"hello":[{}]}}}`)
	if n := testing.AllocsPerRun(100, func() { Parse(text) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

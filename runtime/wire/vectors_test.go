package wire

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/runtime/engine"
)

// rewrite reads one line as what kind says, and gives it as it is written again.
func rewrite(d *Decoder, kind, line string) (string, error) {
	switch kind {
	case "event":
		e, err := d.Event([]byte(line))
		if err != nil {
			return "", err
		}
		return string(AppendEvent(nil, e)), nil
	case "effect":
		e, err := d.Effect([]byte(line))
		if err != nil {
			return "", err
		}
		return string(AppendEffect(nil, e)), nil
	case "open":
		c, err := d.Open([]byte(line))
		if err != nil {
			return "", err
		}
		return strings.TrimSuffix(string(AppendOpen(nil, c)), "\n"), nil
	case "at":
		now, events, err := d.Frame([]byte(line + "\n"))
		if err != nil {
			return "", err
		}
		return strings.TrimSuffix(string(AppendFrame(nil, now, events...)), "\n"), nil
	}
	return "", errors.New("no such kind of line")
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var d Decoder
	taken, refused := map[string]bool{}, map[Code]bool{}
	for i, row := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if row == "" || row[0] == '#' {
			continue
		}
		kind, rest, _ := strings.Cut(row, " ")
		want, line, _ := strings.Cut(rest, " ")
		got, err := rewrite(&d, kind, line)
		if want == "ok" {
			if err != nil {
				t.Errorf("vectors.txt:%d: %v", i+1, err)
			} else if got != line {
				t.Errorf("vectors.txt:%d: read\n%s and wrote\n%s", i+1, line, got)
			}
			verb, _, _ := strings.Cut(line, " ")
			taken[verb] = true
			continue
		}
		var fault *Error
		if !errors.As(err, &fault) {
			t.Errorf("vectors.txt:%d: want %s, got %q and the error %v", i+1, want, got, err)
			continue
		}
		if have := strings.TrimSuffix(string(fault.Code)+":"+fault.Key, ":"); have != want {
			t.Errorf("vectors.txt:%d: want %s, got %s (%v)", i+1, want, have, fault)
		}
		refused[fault.Code] = true
	}
	for _, e := range allEvents() {
		if verb := string(AppendEvent(nil, e)); !taken[firstWord(verb)] {
			t.Errorf("no vector for event %s", verb)
		}
	}
	for _, e := range allEffects() {
		if verb := string(AppendEffect(nil, e)); !taken[firstWord(verb)] {
			t.Errorf("no vector for effect %s", verb)
		}
	}
	for _, c := range []Code{Malformed, UnknownVerb, UnknownKey, RepeatedKey, WrongOrder, MissingKey, BadValue, BadAddress} {
		if !refused[c] {
			t.Errorf("no vector fails with %s", c)
		}
	}
}

func firstWord(line string) string {
	word, _, _ := strings.Cut(line, " ")
	return word
}

func TestFrameSaysWhere(t *testing.T) {
	tests := []struct{ frame, want string }{
		{"", "wire: line 1: no line feed at the end"},
		{"at now=1", "wire: line 1: at: no line feed at the end"},
		{"\n", "wire: line 1: \"at\" is expected here"},
		{"closing\n", "wire: line 1: closing: \"at\" is expected here"},
		{"at now=x\n", "wire: line 1: at: now: x is not a decimal number"},
		{"at now=1\nclosing", "wire: line 2: closing: no line feed at the end"},
		{"at now=1\nclosing\n\n", "wire: line 3: a line begins with a verb"},
		{"at now=1\r\nclosing\r\n", "wire: line 1: at: now: \"1\\x0d\" is not a decimal number"},
		{"at now=1\nclosing\nstub-changed stub=1 status=up\n", "wire: line 3: stub-changed: status: up is none of created in-progress live disconnected failed"},
		{"at now=1\n\x1b[2J\n", "wire: line 2: \"\\x1b[2J\": no such event"},
		{"at now=1\n" + strings.Repeat("x", 1000) + "\n", "wire: line 2: " + strings.Repeat("x", 64) + "...: no such event"},
		{"at now=1\nanswer-received msg=1 " + strings.Repeat("y", 1000) + "\n", "wire: line 2: answer-received: " + strings.Repeat("y", 64) + "... is not key=value"},
		{"at now=1\nat now=2\n", "wire: line 2: at: no such event"},
		{"at now=1\nendpoint-registered address=a\n", "wire: line 2: endpoint-registered: address: address: \"a\": no \"://\" after the scheme"},
	}
	var d Decoder
	for _, test := range tests {
		_, events, err := d.Frame([]byte(test.frame))
		if err == nil {
			t.Errorf("%q: taken", test.frame)
		} else if err.Error() != test.want {
			t.Errorf("%q:\n got %s\nwant %s", test.frame, err, test.want)
		}
		if events != nil {
			t.Errorf("%q: refused, but some events given", test.frame)
		}
	}
	_, err := d.Effects([]byte("wake\nsettle msg=x\n"))
	if want := "wire: line 2: settle: msg: x is not a decimal number"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = d.Effects([]byte("wake\nwake"))
	if want := "wire: line 2: wake: no line feed at the end"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestStatusBeyondTheWordsIsLeftOut(t *testing.T) {
	line := AppendEvent(nil, &engine.StubChanged{Stub: 1, Status: 200})
	var d Decoder
	if _, err := d.Event(line); err == nil {
		t.Errorf("%s was taken", line)
	}
}

package wire

import "strconv"

// Code says in one word why a text was refused. The words are the same in every codec of the grammar; the vectors in
// testdata name them.
type Code string

// The reasons to refuse a text.
const (
	Malformed   Code = "malformed"    // the shape of a line: no verb, no "=", two spaces, no line feed at the end
	UnknownVerb Code = "unknown-verb" // no such event or effect
	UnknownKey  Code = "unknown-key"  // the verb has no such key
	RepeatedKey Code = "repeated-key" // the key came before
	WrongOrder  Code = "wrong-order"  // the key belongs before the one in front of it
	MissingKey  Code = "missing-key"  // the verb can not do without it
	BadValue    Code = "bad-value"    // the value can not be read, or has another form than the one it is written in
	BadAddress  Code = "bad-address"  // the value is text, but no address
)

// Error says what is wrong in a text, and where.
type Error struct {
	Line int    // the first line is 1
	Verb string // as it stands there; empty if there is none
	Key  string // empty if the fault is not at a key
	Code Code
	Why  string
}

func (e *Error) Error() string {
	s := "wire: line " + strconv.Itoa(e.Line)
	if e.Verb != "" {
		s += ": " + excerpt([]byte(e.Verb))
	}
	if e.Key != "" {
		s += ": " + excerpt([]byte(e.Key))
	}
	return s + ": " + e.Why
}

// excerpt makes input fit to stand in an error: short, and in quotes where it holds bytes that do something to a terminal.
// strconv quotes as well, but brings 5 KB of tables into the module.
func excerpt(input []byte) string {
	const most = 64
	cut := input[:min(len(input), most)]
	quoted := false
	b := make([]byte, 0, len(cut)+5)
	for _, c := range cut {
		switch {
		case c <= ' ' || c > '~':
			quoted = true
			b = append(b, '\\', 'x', lowerHex[c>>4], lowerHex[c&15])
		case c == '"' || c == '\\':
			quoted = true
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	text := string(b)
	if quoted {
		text = "\"" + text + "\""
	}
	if len(cut) < len(input) {
		text += "..."
	}
	return text
}

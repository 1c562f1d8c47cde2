package message

import (
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may stand in each other, the outermost counted.
const MaxDepth = 128

// Valid says whether b is one JSON value (RFC 8259) in UTF-8, no deeper than MaxDepth.
func Valid(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	s := scanner{b: b}
	s.space()
	if s.value(MaxDepth) != "" {
		return false
	}
	s.space()
	return s.at == len(b)
}

// scanner goes over JSON once. Its methods say what is wrong, or nothing; at is then where.
type scanner struct {
	b  []byte
	at int
}

const problemEnd = "ends too early"

func (s *scanner) where() string { return " (byte " + strconv.Itoa(s.at) + ")" }

// unexpected names the byte that can not stand here.
func (s *scanner) unexpected(wanted string) string {
	if s.at >= len(s.b) {
		return problemEnd
	}
	_, size := utf8.DecodeRune(s.b[s.at:])
	return "wanted " + wanted + ", not " + strconv.QuoteToASCII(string(s.b[s.at:s.at+size]))
}

func (s *scanner) peek() byte {
	if s.at < len(s.b) {
		return s.b[s.at]
	}
	return 0
}

func (s *scanner) space() {
	for s.at < len(s.b) {
		switch s.b[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// value passes one value. depth is how many more containers may open.
func (s *scanner) value(depth int) string {
	switch c := s.peek(); {
	case c == '"':
		_, problem := s.text()
		return problem
	case c == '{':
		return s.container(depth, '}', s.member)
	case c == '[':
		return s.container(depth, ']', s.value)
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.unexpected("a value")
}

func (s *scanner) word(w string) string {
	for i := range len(w) {
		if s.peek() != w[i] {
			return s.unexpected(w)
		}
		s.at++
	}
	return ""
}

// container passes an object or an array whose items item passes.
func (s *scanner) container(depth int, end byte, item func(int) string) string {
	if depth == 0 {
		return "deeper than " + strconv.Itoa(MaxDepth)
	}
	s.at++
	s.space()
	if s.peek() == end {
		s.at++
		return ""
	}
	for {
		s.space()
		if problem := item(depth - 1); problem != "" {
			return problem
		}
		s.space()
		switch s.peek() {
		case ',':
			s.at++
		case end:
			s.at++
			return ""
		default:
			return s.unexpected("a comma or " + string(rune(end)))
		}
	}
}

func (s *scanner) member(depth int) string {
	if _, problem := s.key(); problem != "" {
		return problem
	}
	return s.value(depth)
}

// key passes a key and its colon.
func (s *scanner) key() (token, string) {
	if s.peek() != '"' {
		return token{}, s.unexpected("a key")
	}
	key, problem := s.text()
	if problem != "" {
		return key, problem
	}
	s.space()
	if s.peek() != ':' {
		return key, s.unexpected("a colon")
	}
	s.at++
	s.space()
	return key, ""
}

// token is a string as it stands in the JSON, without its quotes.
type token struct {
	raw     []byte
	escapes bool
}

func (s *scanner) text() (token, string) {
	s.at++
	start, escapes := s.at, false
	for s.at < len(s.b) {
		switch c := s.b[s.at]; {
		case c == '"':
			t := token{raw: s.b[start:s.at], escapes: escapes}
			s.at++
			return t, ""
		case c == '\\':
			escapes = true
			if problem := s.escape(); problem != "" {
				return token{}, problem
			}
		case c < ' ':
			return token{}, "a control character in a string"
		default:
			s.at++
		}
	}
	return token{}, problemEnd
}

func (s *scanner) escape() string {
	s.at++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at++
		return ""
	case 'u':
		s.at++
		for range 4 {
			if _, ok := hexDigit(s.peek()); !ok {
				return s.unexpected("a hexadecimal digit")
			}
			s.at++
		}
		return ""
	}
	return s.unexpected("an escape")
}

func (s *scanner) number() string {
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if problem := s.digits(); problem != "" {
		return problem
	}
	if s.peek() == '.' {
		s.at++
		if problem := s.digits(); problem != "" {
			return problem
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		return s.digits()
	}
	return ""
}

func (s *scanner) digits() string {
	start := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	if s.at == start {
		return s.unexpected("a digit")
	}
	return ""
}

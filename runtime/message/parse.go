package message

import (
	"strconv"
	"unicode/utf8"
)

// maxKeys is how many keys beside the five a message may have. Each is remembered, to find the one that stands there twice.
const maxKeys = 32

// Parse reads one message. Other keys than the five are passed over; a key that stands there twice is an error. With an
// error, which is an *Error, the fields that could be read are set all the same, so that it can be answered.
func Parse(b []byte) (Envelope, error) {
	p := parser{scanner: scanner{b: b}}
	if err := p.message(); err != nil {
		return p.envelope, err
	}
	return p.envelope, nil
}

// The fields, in the order in which a missing one is reported.
const (
	fieldID = iota
	fieldType
	fieldFrom
	fieldTo
	fieldBody
	fieldNone
)

var fieldNames = [...]string{"id", "type", "from", "to", "body"}

type parser struct {
	scanner
	envelope Envelope
	seen     [maxKeys]string
	keys     int
	has      [len(fieldNames)]bool
	wrong    *Error // the first field that is wrong; reading goes on
}

func (p *parser) complain(field, problem string) {
	if p.wrong == nil {
		p.wrong = &Error{Field: field, Problem: problem}
	}
}

func (p *parser) message() error {
	if !utf8.Valid(p.b) {
		return &Error{Field: "json", Problem: "not UTF-8"}
	}
	field := "json"
	p.space()
	if p.at == len(p.b) {
		return &Error{Field: field, Problem: "empty"}
	}
	if p.peek() != '{' {
		return &Error{Field: field, Problem: p.unexpected("an object") + p.where()}
	}
	problem := p.container(MaxDepth, '}', func(depth int) string {
		field = "json"
		key, problem := p.key()
		if problem != "" {
			return problem
		}
		name := key.bytes()
		known := fieldNone
		for i, n := range fieldNames {
			if string(name) == n {
				known, field = i, n
			}
		}
		if problem := p.once(name, known); problem != "" {
			return problem
		}
		return p.field(known, depth)
	})
	if problem != "" {
		return &Error{Field: field, Problem: problem + p.where()}
	}
	p.space()
	if p.at < len(p.b) {
		return &Error{Field: "json", Problem: "bytes left over after the message" + p.where()}
	}
	for i, n := range fieldNames {
		if !p.has[i] && i != fieldBody {
			p.complain(n, "missing")
		}
	}
	if p.wrong != nil {
		return p.wrong
	}
	return nil
}

// once refuses a key that was there before.
func (p *parser) once(name []byte, known int) string {
	if known != fieldNone {
		if p.has[known] {
			return "stands there twice"
		}
		p.has[known] = true
		return ""
	}
	for _, other := range p.seen[:p.keys] {
		if string(name) == other {
			return "key " + quote(name) + " stands there twice"
		}
	}
	if p.keys == maxKeys {
		return "more than " + strconv.Itoa(maxKeys) + " other keys"
	}
	p.seen[p.keys] = string(name)
	p.keys++
	return ""
}

func (p *parser) field(known, depth int) string {
	start := p.at
	first := p.peek()
	var text token
	var problem string
	if first == '"' {
		text, problem = p.text()
	} else {
		problem = p.value(depth)
	}
	if problem != "" || known == fieldNone {
		return problem
	}
	raw := p.b[start:p.at]
	if known == fieldBody {
		if first != '{' {
			p.complain("body", "not an object")
			return ""
		}
		p.envelope.Body = raw
		return ""
	}
	if first == '"' {
		raw = text.bytes()
	} else if known != fieldID {
		p.complain(fieldNames[known], "not a string")
		return ""
	}
	p.set(known, raw)
	return ""
}

func (p *parser) set(known int, value []byte) {
	e := &p.envelope
	switch known {
	case fieldID:
		id, ok := decimal(value)
		if !ok {
			p.complain("id", "not an integer from 0 to 2^53-1, nor one in a string")
			return
		}
		e.ID = id
	case fieldType:
		if e.Type = TypeNamed(value); e.Type == None {
			p.complain("type", "unknown: "+quote(value))
		}
	case fieldFrom:
		if e.From = string(value); e.From == "" {
			p.complain("from", "empty")
		}
	case fieldTo:
		if e.To = string(value); e.To == "" {
			p.complain("to", "empty")
		}
	}
}

// decimal reads digits without sign or leading zeros.
func decimal(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 16 || len(b) > 1 && b[0] == '0' {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n <= MaxID
}

// quote is b for an error text: ASCII, and not long.
func quote(b []byte) string {
	if len(b) > 40 {
		return strconv.QuoteToASCII(string(b[:40])) + "..."
	}
	return strconv.QuoteToASCII(string(b))
}

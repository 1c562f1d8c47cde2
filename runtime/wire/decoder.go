package wire

import (
	"bytes"

	"github.com/hyroute/hyroute/runtime/engine"
)

// Decoder reads what the Append functions write. The zero value is ready. It is used by one goroutine at a time; what it
// has read never depends on what it read before.
type Decoder struct {
	known   addresses
	fields  fields
	events  []engine.Event
	effects []engine.Effect
}

// Frame reads a whole frame: the time, then the events. The events are new each time, the slice is used again by the next
// call. The error is an *Error.
func (d *Decoder) Frame(b []byte) (now engine.Instant, events []engine.Event, err error) {
	head, rest, ok := bytes.Cut(b, lineFeed)
	if !ok {
		return 0, nil, cutOff(b, 1)
	}
	if now, err = d.at(head); err != nil {
		return 0, nil, err
	}
	clear(d.events)
	d.events = d.events[:0]
	for line := 2; len(rest) > 0; line++ {
		var text []byte
		if text, rest, ok = bytes.Cut(rest, lineFeed); !ok {
			return 0, nil, cutOff(text, line)
		}
		e, err := d.event(text, line)
		if err != nil {
			return 0, nil, err
		}
		d.events = append(d.events, e)
	}
	return now, d.events, nil
}

// Effects reads the lines of effects. The effects are new each time, the slice is used again by the next call. The error is
// an *Error.
func (d *Decoder) Effects(b []byte) ([]engine.Effect, error) {
	clear(d.effects)
	d.effects = d.effects[:0]
	for line := 1; len(b) > 0; line++ {
		text, rest, ok := bytes.Cut(b, lineFeed)
		if !ok {
			return nil, cutOff(text, line)
		}
		e, err := d.effect(text, line)
		if err != nil {
			return nil, err
		}
		d.effects, b = append(d.effects, e), rest
	}
	return d.effects, nil
}

// Event reads the line of one event, without its line feed. The error is an *Error.
func (d *Decoder) Event(b []byte) (engine.Event, error) { return d.event(b, 1) }

// Effect reads the line of one effect, without its line feed. The error is an *Error.
func (d *Decoder) Effect(b []byte) (engine.Effect, error) { return d.effect(b, 1) }

// Open reads the line that a machine is made from. The line feed at its end may be missing. The error is an *Error.
func (d *Decoder) Open(b []byte) (engine.Config, error) {
	b = bytes.TrimSuffix(b, lineFeed)
	verb, rest := split(b)
	if string(verb) != "open" {
		return engine.Config{}, otherVerb(verb, 1, "open")
	}
	var c engine.Config
	d.begin(rest)
	config(&d.fields, &c)
	if err := d.end(b, 1, func(f *fields) { config(f, &c) }); err != nil {
		return engine.Config{}, err
	}
	return c, nil
}

var lineFeed = []byte{'\n'}

func (d *Decoder) at(line []byte) (now engine.Instant, err error) {
	verb, rest := split(line)
	if string(verb) != "at" {
		return 0, otherVerb(verb, 1, "at")
	}
	list := func(f *fields) { f.always("now", (*uint64)(&now)) }
	d.begin(rest)
	list(&d.fields)
	return now, d.end(line, 1, list)
}

func (d *Decoder) event(line []byte, number int) (engine.Event, error) {
	verb, rest := split(line)
	e := newEvent(verb)
	if e == nil {
		return nil, unknownVerb(verb, number, "event")
	}
	d.begin(rest)
	d.fields.event(e)
	if err := d.end(line, number, func(f *fields) { f.event(e) }); err != nil {
		return nil, err
	}
	return e, nil
}

func (d *Decoder) effect(line []byte, number int) (engine.Effect, error) {
	verb, rest := split(line)
	e := newEffect(verb)
	if e == nil {
		return nil, unknownVerb(verb, number, "effect")
	}
	d.begin(rest)
	d.fields.effect(e)
	if err := d.end(line, number, func(f *fields) { f.effect(e) }); err != nil {
		return nil, err
	}
	return e, nil
}

// split cuts a line into its verb and the fields, which begin with a space.
func split(line []byte) (verb, fields []byte) {
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i:]
	}
	return line, nil
}

func (d *Decoder) begin(rest []byte) {
	d.fields = fields{mode: reading, rest: rest, addresses: &d.known}
}

// end says what is wrong with a line whose fields were read in their order: the first value that can not be read, or else
// what is left over. list walks over the same fields once more.
func (d *Decoder) end(line []byte, number int, list func(*fields)) error {
	f := &d.fields
	if f.code == "" && len(f.rest) == 0 {
		return nil
	}
	verb, _ := split(line)
	e := &Error{Line: number, Verb: string(verb), Key: f.key, Code: f.code, Why: f.why}
	if f.code != "" {
		return e
	}
	e.Key = ""
	field, _ := split(f.rest[1:])
	key, _, ok := bytes.Cut(field, []byte{'='})
	if !ok || len(key) == 0 {
		e.Code, e.Why = Malformed, excerpt(field)+" is not key=value"
		return e
	}
	e.Key = string(key)
	asked := fields{mode: asking, key: e.Key}
	list(&asked)
	before := line[:len(line)-len(f.rest)]
	switch {
	case !asked.known:
		e.Code, e.Why = UnknownKey, "no such key"
	case bytes.Contains(before, append([]byte{' '}, field[:len(key)+1]...)):
		e.Code, e.Why = RepeatedKey, "a second time"
	default:
		e.Code, e.Why = WrongOrder, "belongs further to the front"
	}
	return e
}

func otherVerb(verb []byte, line int, wanted string) *Error {
	code := UnknownVerb
	if len(verb) == 0 {
		code = Malformed
	}
	return &Error{Line: line, Verb: string(verb), Code: code, Why: "\"" + wanted + "\" is expected here"}
}

func unknownVerb(verb []byte, line int, kind string) *Error {
	if len(verb) == 0 {
		return &Error{Line: line, Code: Malformed, Why: "a line begins with a verb"}
	}
	return &Error{Line: line, Verb: string(verb), Code: UnknownVerb, Why: "no such " + kind}
}

func cutOff(text []byte, line int) *Error {
	verb, _ := split(text)
	return &Error{Line: line, Verb: string(verb), Code: Malformed, Why: "no line feed at the end"}
}

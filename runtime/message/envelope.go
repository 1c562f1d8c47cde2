package message

import "strconv"

// MaxID is the largest id of a message: the largest integer that every JSON reader keeps whole.
const MaxID = 1<<53 - 1

// An Envelope is a message as it travels in JSON.
type Envelope struct {
	ID   uint64
	Type Type
	From string // as it was written, not parsed
	To   string // as it was written, not parsed
	Body []byte // one JSON object, or nothing. Shares memory with what was read
}

// An Error says which field of a message is wrong, and why. The field is "json" where it is none in particular.
type Error struct{ Field, Problem string }

func (e *Error) Error() string { return "message: " + e.Field + ": " + e.Problem }

// Append appends e as JSON, its type in lower case. The body must be JSON already.
func (e *Envelope) Append(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendUint(b, e.ID, 10)
	b = append(b, `,"type":"`...)
	b = append(b, e.Type.String()...)
	b = append(b, `","from":`...)
	b = AppendString(b, e.From)
	b = append(b, `,"to":`...)
	b = AppendString(b, e.To)
	if len(e.Body) > 0 {
		b = append(b, `,"body":`...)
		b = append(b, e.Body...)
	}
	return append(b, '}')
}

package message

// Type says what a message asks for, or that it answers.
type Type uint8

// The types. Those up to Event can travel in a session, with these numbers; the others belong to the talk between a
// runtime and its Message Node.
const (
	None Type = iota
	Create
	Read
	Update
	Delete
	Subscribe
	Unsubscribe
	Response
	Forward
	Execute
	Event
	Open
	ReOpen
	Close
	Handshake
	Ping
)

var typeNames = [...]string{
	"", "create", "read", "update", "delete", "subscribe", "unsubscribe", "response", "forward", "execute", "event",
	"open", "re-open", "close", "handshake", "ping",
}

const longestTypeName = len("unsubscribe")

// String is the name as it is written in JSON. It is empty for None and for numbers that are no type.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return ""
}

// TypeNamed is the type of that name; case does not matter. It is None for any other name.
func TypeNamed[T string | []byte](name T) Type {
	if len(name) > longestTypeName {
		return None
	}
	var space [longestTypeName]byte
	lower := space[:len(name)]
	for i := range lower {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	for t := Create; int(t) < len(typeNames); t++ {
		if string(lower) == typeNames[t] {
			return t
		}
	}
	return None
}

package frame

import "errors"

// Kinds of relay envelopes.
const (
	KindName    = 0x01
	KindForward = 0x02
	KindNotice  = 0x03
)

// Reasons of a NOTICE.
const (
	NoticeNoRuntime  = 1 // no such runtime now
	NoticeNoSessions = 2 // the peer has no sessions
	NoticeTooBig     = 3
	NoticeFull       = 4 // the node's queue to the peer is full
)

// MaxHandle is the highest handle that may be defined.
const MaxHandle = 4095

// NoticeHead is how much of the frame a NOTICE repeats.
const NoticeHead = 24

// Envelope is one binary message between a runtime and its Message Node.
type Envelope struct {
	Kind    byte
	Handle  uint64
	Runtime string // NAME: the runtime URL, not parsed
	Reason  byte   // NOTICE
	Frame   []byte // FORWARD: the session frame. NOTICE: its first bytes. Shares memory with what was read
}

// ReadEnvelope reads one binary message. It does not look into the session frame.
func ReadEnvelope(b []byte) (Envelope, error) {
	if len(b) == 0 {
		return Envelope{}, errors.New("frame: empty envelope")
	}
	e := Envelope{Kind: b[0]}
	handle, n := Varint(b[1:])
	if n == 0 {
		return Envelope{}, errors.New("frame: envelope ends in its handle")
	}
	e.Handle = handle
	rest := b[1+n:]
	switch e.Kind {
	case KindName:
		size, n := Varint(rest)
		if n == 0 || size != uint64(len(rest)-n) {
			return Envelope{}, errors.New("frame: NAME: length and content differ")
		}
		if handle == 0 || handle > MaxHandle {
			return Envelope{}, errors.New("frame: NAME: handle is not in 1..4095")
		}
		e.Runtime = string(rest[n:])
	case KindForward:
		e.Frame = rest
	case KindNotice:
		if len(rest) == 0 || len(rest) > 1+NoticeHead {
			return Envelope{}, errors.New("frame: NOTICE: wrong length")
		}
		e.Reason, e.Frame = rest[0], rest[1:]
	default:
		return Envelope{}, errors.New("frame: unknown kind of envelope")
	}
	return e, nil
}

// AppendName appends a NAME envelope.
func AppendName(b []byte, handle uint64, runtime string) []byte {
	b = AppendVarint(append(b, KindName), handle)
	b = AppendVarint(b, uint64(len(runtime)))
	return append(b, runtime...)
}

// AppendForward appends the start of a FORWARD envelope; the session frame follows.
func AppendForward(b []byte, handle uint64) []byte {
	return AppendVarint(append(b, KindForward), handle)
}

// AppendNotice appends a NOTICE about session frame f.
func AppendNotice(b []byte, handle uint64, reason byte, f []byte) []byte {
	b = append(AppendVarint(append(b, KindNotice), handle), reason)
	return append(b, f[:min(len(f), NoticeHead)]...)
}

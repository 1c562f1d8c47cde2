package wire

import (
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// The packed form says the same as the text, in bytes: what comes with every message is a record of numbers, everything else is
// its line. wasm/ABI.md has the table.

// The kinds of records.
const (
	recordLine   = 1 // length, the line of any event or effect
	recordDefine = 2 // handle, length, an address: what the handle means from now on

	recordPosted   = 3 // msg, from, to, size, options, and what the options say
	recordFrame    = 4 // stub, handle, frame, size, length of head, head
	recordTaken    = 5 // first delivery, how many: they were taken in that order
	recordAnswered = 6 // msg
	recordTime     = 7
	recordBlocked  = 8 // stub
	recordWritable = 9 // stub

	recordTransmit  = 16 // stub, handle, pad, length of head, head, how many parts, msg offset length of each
	recordHold      = 17 // session, first number, frame, offset, how many, length of each: they stand behind each other
	recordDrop      = 18 // session, first, last
	recordDeliver   = 19 // delivery, session, first, last, path, from, to
	recordDelivers  = 20 // first delivery, session, first number, how many, path, from, to: messages of one chunk each
	recordDelivered = 21 // first msg, how many: each settled as delivered, and released
	recordRelease   = 22 // msg
	recordWake      = 23 // at
)

// What comes after the size of a message that was posted.
const (
	optionWish     = 1 << iota // never
	optionPlain                // 1
	optionDeadline             // number
	optionAnswer               // number
	optionLane                 // length, text
	options        = 1<<iota - 1
)

// afresh is the first byte of a frame before which both sides forget all handles.
const afresh = 1

// MaxHandles is how many addresses have a handle at a time, each way.
const MaxHandles = 1024

// maxRun is how many events one record stands for at most.
const maxRun = 1 << 16

var paths = [...]string{"local", "relay", "direct"}

// A Packer writes the packed form of what goes one way. It gives addresses handles: its Unpacker must read all that it writes,
// in order. The zero value has given none.
type Packer struct {
	handles map[address.Address]uint64
	named   []address.Address // by handle
	next    uint64
	recent  [4]known // some of them: most often an address is the one of a moment ago
	turn    uint     // which of the recent ones gives way next
	text    []byte
}

// Forget begins anew: no address has a handle.
func (p *Packer) Forget() {
	p.handles, p.named, p.next = nil, nil, 0
	clear(p.recent[:])
}

// handle gives the handle of a, which is defined first if need be. 0 is the zero Address.
//
//go:noinline
func (p *Packer) handle(b []byte, a address.Address) ([]byte, uint64) {
	if a.IsZero() {
		return b, 0
	}
	for i := range p.recent {
		if x := &p.recent[i]; x.address == a {
			return b, x.handle
		}
	}
	h, ok := p.handles[a]
	if !ok {
		b, h = p.define(b, a)
	}
	p.recent[p.turn] = known{a, h}
	p.turn = (p.turn + 1) % uint(len(p.recent))
	return b, h
}

func (p *Packer) define(b []byte, a address.Address) ([]byte, uint64) {
	if p.handles == nil {
		p.handles = map[address.Address]uint64{}
		p.named = make([]address.Address, 1, 8)
	}
	p.next = p.next%(MaxHandles-1) + 1
	h := p.next
	if h < uint64(len(p.named)) {
		delete(p.handles, p.named[h])
		p.named[h] = a
		clear(p.recent[:])
	} else {
		p.named = append(p.named, a)
	}
	p.handles[a] = h
	s := a.String()
	b = putNumbers(b, recordDefine, h, uint64(len(s)))
	return append(b, s...), h
}

// pair gives the handles of two addresses. Defining the second may take the first one's handle.
func (p *Packer) pair(b []byte, from, to address.Address) (_ []byte, f, t uint64) {
	b, f = p.handle(b, from)
	size := len(b)
	if b, t = p.handle(b, to); len(b) > size {
		b, f = p.handle(b, from)
	}
	return b, f, t
}

// putNumbers appends numbers, seven bits a byte, the lowest first; all bytes but the last have the highest bit set.
//
//go:noinline
func putNumbers(b []byte, numbers ...uint64) []byte {
	for _, v := range numbers {
		for v > 0x7f {
			b = append(b, byte(v)|0x80)
			v >>= 7
		}
		b = append(b, byte(v))
	}
	return b
}

func (p *Packer) line(b []byte) []byte {
	return append(putNumbers(b, recordLine, uint64(len(p.text))), p.text...)
}

// AppendFrame appends a frame: the time and what happened. anew begins it with Forget, on both sides.
func (p *Packer) AppendFrame(b []byte, anew bool, now engine.Instant, events ...engine.Event) []byte {
	flags := uint64(0)
	if anew {
		p.Forget()
		flags = afresh
	}
	b = putNumbers(b, flags, uint64(now))
	for i := 0; i < len(events); i++ {
		switch e := events[i].(type) {
		case *engine.MessagePosted:
			b = p.posted(b, e)
		case *engine.FrameReceived:
			b = putNumbers(b, recordFrame, e.Stub, e.Handle, e.Frame, uint64(e.Size), uint64(len(e.Head)))
			b = append(b, e.Head...)
		case *engine.DeliveryTaken:
			n := 1
			for ; n < maxRun && i+n < len(events); n++ {
				if next, ok := events[i+n].(*engine.DeliveryTaken); !ok || next.Delivery != e.Delivery+uint64(n) {
					break
				}
			}
			b = putNumbers(b, recordTaken, e.Delivery, uint64(n))
			i += n - 1
		case *engine.AnswerReceived:
			b = putNumbers(b, recordAnswered, e.Msg)
		case *engine.TimePassed:
			b = append(b, recordTime)
		case *engine.StubBlocked:
			b = putNumbers(b, recordBlocked, e.Stub)
		case *engine.StubWritable:
			b = putNumbers(b, recordWritable, e.Stub)
		default:
			p.text = AppendEvent(p.text[:0], e)
			b = p.line(b)
		}
	}
	return b
}

func (p *Packer) posted(b []byte, e *engine.MessagePosted) []byte {
	b, from, to := p.pair(b, e.From, e.To)
	given := uint64(0)
	for i, is := range [...]bool{e.Wish == engine.WishNever, e.Plain, e.Deadline != 0, e.Answer != 0, e.Lane != ""} {
		if is {
			given |= 1 << i
		}
	}
	b = putNumbers(b, recordPosted, e.Msg, from, to, uint64(e.Size), given)
	if e.Deadline != 0 {
		b = putNumbers(b, e.Deadline)
	}
	if e.Answer != 0 {
		b = putNumbers(b, e.Answer)
	}
	if e.Lane != "" {
		b = append(putNumbers(b, uint64(len(e.Lane))), e.Lane...)
	}
	return b
}

// AppendEffects appends effects.
func (p *Packer) AppendEffects(b []byte, effects []engine.Effect) []byte {
	for i := 0; i < len(effects); i++ {
		n := 1
		switch e := effects[i].(type) {
		case *engine.Transmit:
			b = p.transmit(b, e)
		case *engine.Hold:
			b, n = holds(b, e, effects[i:])
		case *engine.Drop:
			b = putNumbers(b, recordDrop, e.Session, e.First, e.Last)
		case *engine.Deliver:
			b, n = p.delivers(b, e, effects[i:])
		case *engine.Settle:
			if n = delivered(effects[i:]); n > 0 {
				b = putNumbers(b, recordDelivered, e.Msg, uint64(n))
				n *= 2
			} else {
				p.text, n = AppendEffect(p.text[:0], e), 1
				b = p.line(b)
			}
		case *engine.Release:
			b = putNumbers(b, recordRelease, e.Msg)
		case *engine.Wake:
			b = putNumbers(b, recordWake, min(uint64(e.At), MaxNumber))
		default:
			p.text = AppendEffect(p.text[:0], e)
			b = p.line(b)
		}
		i += n - 1
	}
	return b
}

func (p *Packer) transmit(b []byte, e *engine.Transmit) []byte {
	b = putNumbers(b, recordTransmit, e.Stub, e.Handle, uint64(e.Pad), uint64(len(e.Head)))
	b = putNumbers(append(b, e.Head...), uint64(len(e.Parts)))
	for i := range e.Parts {
		x := &e.Parts[i]
		b = putNumbers(b, x.Msg, uint64(x.Offset), uint64(x.Length))
	}
	return b
}

// holds writes the holds at the start of effects that stand behind each other in one frame, and says how many they are.
func holds(b []byte, first *engine.Hold, effects []engine.Effect) ([]byte, int) {
	n, offset := 1, first.Offset+first.Length
	for ; n < len(effects) && n < maxRun; n++ {
		e, ok := effects[n].(*engine.Hold)
		if !ok || e.Session != first.Session || e.Frame != first.Frame || e.Number != first.Number+uint64(n) || e.Offset != offset {
			break
		}
		offset += e.Length
	}
	b = putNumbers(b, recordHold, first.Session, first.Number, first.Frame, uint64(first.Offset), uint64(n))
	for _, e := range effects[:n] {
		b = putNumbers(b, uint64(e.(*engine.Hold).Length))
	}
	return b, n
}

// delivers writes the deliveries at the start of effects that differ in nothing but their numbers.
func (p *Packer) delivers(b []byte, first *engine.Deliver, effects []engine.Effect) ([]byte, int) {
	path := 0
	for path < len(paths) && paths[path] != first.Path {
		path++
	}
	if first.Session == 0 || first.Msg != 0 || first.JSON != 0 || path == len(paths) {
		p.text = AppendEffect(p.text[:0], first)
		return p.line(b), 1
	}
	n := 1
	for ; first.First == first.Last && n < len(effects) && n < maxRun; n++ {
		e, ok := effects[n].(*engine.Deliver)
		k := uint64(n)
		if !ok || e.Delivery != first.Delivery+k || e.Session != first.Session || e.First != first.First+k || e.Last != e.First ||
			e.Path != first.Path || e.From != first.From || e.To != first.To || e.Msg != 0 || e.JSON != 0 {
			break
		}
	}
	b, from, to := p.pair(b, first.From, first.To)
	if n > 1 {
		return putNumbers(b, recordDelivers, first.Delivery, first.Session, first.First, uint64(n), uint64(path), from, to), n
	}
	return putNumbers(b, recordDeliver, first.Delivery, first.Session, first.First, first.Last, uint64(path), from, to), 1
}

// delivered says how many messages with consecutive numbers the effects begin with that are settled as delivered and released.
func delivered(effects []engine.Effect) int {
	n := 0
	first := uint64(0)
	for ; n < maxRun && 2*n+1 < len(effects); n++ {
		s, ok := effects[2*n].(*engine.Settle)
		if !ok || s.Outcome != "delivered" || s.Reason != "" || s.Maybe {
			break
		}
		if n == 0 {
			first = s.Msg
		}
		if r, ok := effects[2*n+1].(*engine.Release); !ok || r.Msg != s.Msg || s.Msg != first+uint64(n) {
			break
		}
	}
	return n
}

package wire

import (
	"unicode/utf8"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/pool"
)

// An Unpacker reads what a Packer writes. The zero value knows no handle. It is used by one goroutine at a time.
type Unpacker struct {
	decoder Decoder
	named   []address.Address // by handle
	before  []address.Address // the same, before it was begun anew in this call
	anew    bool
	undo    []known // what was defined in this call, and what it meant before
	line    int     // number of the record, for errors

	// What is read, and how far. To cut it would be to write a pointer with each value, which is dear while the collector is at work.
	in  []byte
	at  int
	v   [5]uint64 // read last
	why string    // what is wrong; nothing is read any more once it is set
	bad error     // of a line

	events  []engine.Event
	effects []engine.Effect

	// Those that come with every message are lent, until the next call.
	posted   pool.Pool[*engine.MessagePosted]
	received pool.Pool[*engine.FrameReceived]
	taken    pool.Pool[*engine.DeliveryTaken]
	transmit pool.Pool[*engine.Transmit]
	hold     pool.Pool[*engine.Hold]
	deliver  pool.Pool[*engine.Deliver]
	settle   pool.Pool[*engine.Settle]
	release  pool.Pool[*engine.Release]
	wake     pool.Pool[*engine.Wake]
	heads    []byte
	parts    []engine.Part
}

// known is an address, and its handle.
type known struct {
	address address.Address
	handle  uint64
}

// Forget begins anew: no handle means anything.
func (u *Unpacker) Forget() { u.named = u.named[:0] }

// Frame reads a whole frame: the time, then the events, which are good until the next call. After an error, which is an
// *Error, no handle means anything else than before.
func (u *Unpacker) Frame(b []byte) (now engine.Instant, events []engine.Event, err error) {
	u.begin(b)
	u.events = u.events[:0]
	u.posted.Reset()
	u.received.Reset()
	u.taken.Reset()
	switch flags := u.byte(); {
	case flags > afresh:
		u.fail("unknown flags")
	case flags == afresh:
		u.before, u.named, u.anew = u.named, u.before[:0], true
	}
	now = engine.Instant(u.number())
	for u.at < len(u.in) && u.bad == nil {
		u.line++
		kind := u.in[u.at]
		u.at++
		u.event(kind)
	}
	if u.why != "" || u.bad != nil {
		return 0, nil, u.end()
	}
	return now, u.events, nil
}

// Anew says whether the last frame began with Forget.
func (u *Unpacker) Anew() bool { return u.anew }

// Effects reads effects, which are good until the next call. The error is an *Error.
func (u *Unpacker) Effects(b []byte) ([]engine.Effect, error) {
	u.begin(b)
	u.effects = u.effects[:0]
	u.transmit.Reset()
	u.hold.Reset()
	u.deliver.Reset()
	u.settle.Reset()
	u.release.Reset()
	u.wake.Reset()
	u.heads, u.parts = u.heads[:0], u.parts[:0]
	for u.why == "" && u.bad == nil && u.at < len(u.in) {
		u.line++
		u.effect()
	}
	if err := u.end(); err != nil {
		return nil, err
	}
	return u.effects, nil
}

func (u *Unpacker) begin(b []byte) {
	u.in, u.at, u.why, u.bad, u.line, u.anew = b, 0, "", nil, 0, false
	u.undo = u.undo[:0]
}

// end gives what was wrong, and then takes back what was defined since.
func (u *Unpacker) end() error {
	if u.why == "" && u.bad == nil {
		return nil
	}
	if u.anew {
		u.before, u.named = u.named, u.before
	} else {
		for i := len(u.undo) - 1; i >= 0; i-- {
			u.named[u.undo[i].handle] = u.undo[i].address
		}
	}
	if u.bad != nil {
		return u.bad
	}
	return &Error{Line: u.line, Code: Malformed, Why: u.why}
}

//go:noinline
func (u *Unpacker) fail(why string) {
	if u.why == "" {
		u.why = why
	}
	u.at = len(u.in)
}

//go:noinline
func (u *Unpacker) byte() byte {
	if u.at >= len(u.in) {
		u.fail("it ends too early")
		return 0
	}
	u.at++
	return u.in[u.at-1]
}

// numbers reads n numbers up to MaxNumber, good until the next are read. From the first that can not be read all are 0.
//
//go:noinline
func (u *Unpacker) numbers(n int) *[5]uint64 {
	at := u.at
	for i := range n {
		v, shift := uint64(0), 0
		for {
			if at == len(u.in) || shift > 7*7 {
				clear(u.v[i:])
				u.fail("a number is cut off or too large")
				return &u.v
			}
			c := u.in[at]
			at++
			v |= uint64(c&0x7f) << shift
			if c < 0x80 {
				break
			}
			shift += 7
		}
		if v > MaxNumber {
			clear(u.v[i:])
			u.fail("a number is cut off or too large")
			return &u.v
		}
		u.v[i] = v
	}
	u.at = at
	return &u.v
}

//go:noinline
func (u *Unpacker) number() uint64 { return u.numbers(1)[0] }

//go:noinline
func (u *Unpacker) count() int { return u.size(u.number()) }

// size is n as an int.
func (u *Unpacker) size(n uint64) int {
	if n > maxInt {
		u.fail("a number is too large")
		return 0
	}
	return int(n)
}

// run is how many numbers a record stands for that begin with first.
func (u *Unpacker) run(first, n uint64) int {
	if n < 1 || n > maxRun || first+n > MaxNumber {
		u.fail("so many can not be")
		return 0
	}
	return int(n)
}

// take gives the next n bytes.
func (u *Unpacker) take(n uint64) []byte {
	if n > uint64(len(u.in)-u.at) {
		u.fail("it ends too early")
		return nil
	}
	if n == 0 {
		return nil
	}
	end := u.at + int(n)
	b := u.in[u.at:end:end]
	u.at = end
	return b
}

//go:noinline
func (u *Unpacker) bytes() []byte { return u.take(u.number()) }

// address is what the handle h means.
func (u *Unpacker) address(h uint64) address.Address {
	if h == 0 {
		return address.Address{}
	}
	if h >= uint64(len(u.named)) || u.named[h].IsZero() {
		u.fail("a handle that means nothing")
		return address.Address{}
	}
	return u.named[h]
}

func (u *Unpacker) define() {
	h := u.number()
	raw := u.bytes()
	if u.why != "" {
		return
	}
	if h == 0 || h >= MaxHandles {
		u.fail("no such handle")
		return
	}
	// The same text as that of a line is to be the same string: to compare two that are one is cheap.
	a := u.decoder.known.slot(raw).address
	if a.String() != string(raw) {
		var err error
		if a, err = address.Parse(string(raw)); err != nil {
			u.fail(err.Error())
			return
		}
	}
	for uint64(len(u.named)) <= h {
		u.named = append(u.named, address.Address{})
	}
	u.undo = append(u.undo, known{u.named[h], h})
	u.named[h] = a
}

func (u *Unpacker) event(kind byte) {
	switch kind {
	case recordLine:
		e, err := u.decoder.event(u.bytes(), u.line)
		if u.bad = err; err == nil {
			u.events = append(u.events, e)
		}
	case recordDefine:
		u.define()
	case recordPosted:
		u.messagePosted()
	case recordFrame:
		e := u.received.Lend()
		if e == nil {
			e = u.received.Add(new(engine.FrameReceived))
		}
		v := u.numbers(5)
		e.Stub, e.Handle, e.Frame, e.Size, e.Head = v[0], v[1], v[2], u.size(v[3]), u.take(v[4])
		u.events = append(u.events, e)
	case recordTaken:
		v := u.numbers(2)
		first := v[0]
		for i := range u.run(first, v[1]) {
			e := u.taken.Lend()
			if e == nil {
				e = u.taken.Add(new(engine.DeliveryTaken))
			}
			e.Delivery = first + uint64(i)
			u.events = append(u.events, e)
		}
	case recordAnswered:
		u.events = append(u.events, &engine.AnswerReceived{Msg: u.number()})
	case recordTime:
		u.events = append(u.events, &engine.TimePassed{})
	case recordBlocked:
		u.events = append(u.events, &engine.StubBlocked{Stub: u.number()})
	case recordWritable:
		u.events = append(u.events, &engine.StubWritable{Stub: u.number()})
	default:
		u.fail("no such kind of record")
	}
}

func (u *Unpacker) messagePosted() {
	e := u.posted.Lend()
	if e == nil {
		e = u.posted.Add(new(engine.MessagePosted))
	}
	v := u.numbers(4)
	e.Msg, e.From, e.To, e.Size = v[0], u.address(v[1]), u.address(v[2]), u.size(v[3])
	e.Wish, e.Plain, e.Deadline, e.Answer, e.Lane = engine.WishDefault, false, 0, 0, ""
	given := u.byte()
	if given > options {
		u.fail("unknown options")
	}
	if given&optionWish != 0 {
		e.Wish = engine.WishNever
	}
	e.Plain = given&optionPlain != 0
	if given&optionDeadline != 0 {
		e.Deadline = u.number()
	}
	if given&optionAnswer != 0 {
		e.Answer = u.number()
	}
	if given&optionLane != 0 {
		lane := u.bytes()
		if !utf8.Valid(lane) {
			u.fail("not UTF-8")
		}
		e.Lane = string(lane)
	}
	u.events = append(u.events, e)
}

func (u *Unpacker) effect() {
	switch u.byte() {
	case recordLine:
		e, err := u.decoder.effect(u.bytes(), u.line)
		if u.bad = err; err == nil {
			u.effects = append(u.effects, e)
		}
	case recordDefine:
		u.define()
	case recordTransmit:
		u.frame()
	case recordHold:
		session, number, frame, offset := u.number(), u.number(), u.number(), u.count()
		for i := range u.run(number, u.number()) {
			e := u.hold.Lend()
			if e == nil {
				e = u.hold.Add(new(engine.Hold))
			}
			*e = engine.Hold{Session: session, Number: number + uint64(i), Frame: frame, Offset: offset, Length: u.count()}
			if offset += e.Length; uint64(offset) > MaxNumber {
				u.fail("a number is too large")
			}
			u.effects = append(u.effects, e)
		}
	case recordDrop:
		u.effects = append(u.effects, &engine.Drop{Session: u.number(), First: u.number(), Last: u.number()})
	case recordDeliver:
		e := engine.Deliver{Delivery: u.number(), Session: u.number(), First: u.number(), Last: u.number()}
		u.delivers(e, 1)
	case recordDelivers:
		e := engine.Deliver{Delivery: u.number(), Session: u.number(), First: u.number()}
		e.Last = e.First
		u.delivers(e, u.run(max(e.Delivery, e.First), u.number()))
	case recordDelivered:
		msg := u.number()
		for i := range u.run(msg, u.number()) {
			e := u.settle.Lend()
			if e == nil {
				e = u.settle.Add(new(engine.Settle))
			}
			*e = engine.Settle{Msg: msg + uint64(i), Outcome: "delivered"}
			u.effects = append(u.effects, e)
			u.releases(e.Msg)
		}
	case recordRelease:
		u.releases(u.number())
	case recordWake:
		e := u.wake.Lend()
		if e == nil {
			e = u.wake.Add(new(engine.Wake))
		}
		e.At = engine.Instant(u.number())
		u.effects = append(u.effects, e)
	default:
		u.fail("no such kind of record")
	}
}

// frame reads what is to be transmitted. Its header is copied, for the input is not the reader's to keep.
func (u *Unpacker) frame() {
	e := u.transmit.Lend()
	if e == nil {
		e = u.transmit.Add(new(engine.Transmit))
	}
	*e = engine.Transmit{Stub: u.number(), Handle: u.number(), Pad: u.count()}
	if head := u.bytes(); len(head) > 0 {
		start := len(u.heads)
		u.heads = append(u.heads, head...)
		e.Head = u.heads[start:len(u.heads):len(u.heads)]
	}
	n := u.count()
	if n > (len(u.in)-u.at)/3 {
		u.fail("so many can not be")
		return
	}
	if n > 0 {
		start := len(u.parts)
		for range n {
			u.parts = append(u.parts, engine.Part{Msg: u.number(), Offset: u.count(), Length: u.count()})
		}
		e.Parts = u.parts[start:len(u.parts):len(u.parts)]
	}
	u.effects = append(u.effects, e)
}

func (u *Unpacker) delivers(e engine.Deliver, n int) {
	path := u.number()
	e.From, e.To = u.address(u.number()), u.address(u.number())
	if path >= uint64(len(paths)) {
		u.fail("no such path")
		return
	}
	e.Path = paths[path]
	for range n {
		one := u.deliver.Lend()
		if one == nil {
			one = u.deliver.Add(new(engine.Deliver))
		}
		*one = e
		u.effects = append(u.effects, one)
		e.Delivery++
		e.First++
		e.Last++
	}
}

func (u *Unpacker) releases(msg uint64) {
	e := u.release.Lend()
	if e == nil {
		e = u.release.Add(new(engine.Release))
	}
	e.Msg = msg
	u.effects = append(u.effects, e)
}

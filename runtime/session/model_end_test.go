package session

import (
	"fmt"
	"slices"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/random"
	"github.com/hyroute/hyroute/scenarios/history"
)

// Stubs of the model worlds: one relay, and data channels from modelChannel on.
const (
	modelRelay   = 1
	modelChannel = 100
)

// modelEnd is a table with its body: it keeps payload as (message, offset, length) and logs what its application sees.
type modelEnd struct {
	w        modelWorld
	side     int
	url      address.Address
	peer     address.Address
	table    *Table
	life     int
	messages map[uint64]modelMessage
	posted   uint64
	held     map[uint64]map[uint64]modelSlice
	frames   map[uint64][]modelSlice
	frame    uint64
	receipts []modelReceipt
	wake     uint64
	open     int // posted and not settled
	moves    []Preferred
}

type modelMessage struct {
	name    string
	size    int
	settled bool
}

// modelSlice is some payload: bytes of a message.
type modelSlice struct {
	name      string
	size      int // of the message
	offset, n int
}

type modelReceipt struct {
	Receipt
	life   int
	name   string
	refuse bool
}

// modelLetter is a session frame on its way.
type modelLetter struct {
	stub    uint64
	head    []byte
	pad     int
	payload []modelSlice
}

func (l *modelLetter) size() int {
	n := l.pad
	for _, s := range l.payload {
		n += s.n
	}
	return n
}

// modelWorld is what the two ends live in.
type modelWorld interface {
	time() uint64
	wall() uint64
	send(from *modelEnd, l modelLetter)
	log(*modelEnd, history.Record)
	fail(format string, args ...any)
	numbers() Numbers
	closeChannel(end *modelEnd, stub uint64)
	refuses() bool
	arrived(end *modelEnd, r modelReceipt)
}

func newModelEnd(w modelWorld, side int) *modelEnd {
	urls := [2]string{"runtime://d/a", "runtime://d/b"}
	e := &modelEnd{w: w, side: side, url: address.MustParse(urls[side]), peer: address.MustParse(urls[1-side])}
	e.start(w.wall())
	return e
}

// start makes a table with no memory; wall is the wall clock now.
func (e *modelEnd) start(wall uint64) {
	e.table = New(e.url, wall-e.w.time(), random.New(uint64(e.side*1000+e.life)+wall*31), e.w.numbers())
	e.messages = map[uint64]modelMessage{}
	e.held = map[uint64]map[uint64]modelSlice{}
	e.frames = map[uint64][]modelSlice{}
	e.receipts, e.posted, e.open, e.wake = nil, 0, 0, 0
	e.w.log(e, history.Record{End: e.url.String(), Kind: history.Started})
	e.table.Advance(e.w.time())
}

// relayOpened gives the table a new relay socket.
func (e *modelEnd) relayOpened() {
	e.table.Advance(e.w.time())
	e.table.RelayOpened(modelRelay)
	e.table.HandleNamed(modelRelay, 3, e.peer)
	e.run()
}

// post posts a message from one of the addresses of this end; each lane is a session of its own.
func (e *modelEnd) post(size int, deadline uint64, lane string, flow int) {
	e.posted++
	name := fmt.Sprintf("%c%d.%d", 'a'+e.side, e.life, e.posted)
	from, to := e.address(flow), e.address(0)
	e.messages[e.posted] = modelMessage{name: name, size: size}
	e.open++
	e.w.log(e, history.Record{End: e.url.String(), Kind: history.Posted, Message: name, From: from.String(), To: to.String(), Lane: lane})
	e.table.Advance(e.w.time())
	why := e.table.Post(e.peer, Key{Set: Relay | Direct, Lane: lane}, modelRelay, Message{
		Msg: e.posted, From: from, To: to, Size: size, Deadline: e.w.time() + deadline,
	})
	if why != "" {
		e.settled(e.posted, history.Record{Outcome: history.OutcomeRejected, Reason: why})
	}
	e.run()
}

func (e *modelEnd) address(flow int) address.Address {
	return address.MustParse(fmt.Sprintf("hyperty://d/x%d", flow))
}

// receive takes a letter that came.
func (e *modelEnd) receive(l modelLetter) {
	e.frame++
	e.frames = map[uint64][]modelSlice{e.frame: l.payload}
	e.table.Advance(e.w.time())
	handle := uint64(3)
	if l.stub != modelRelay {
		handle = 0
	}
	e.table.FrameReceived(l.stub, handle, e.frame, l.head, l.size())
	e.run()
	e.frames = nil
}

// tick is the timer.
func (e *modelEnd) tick() {
	e.table.Advance(e.w.time())
	e.run()
}

// answer takes or refuses a message that was handed over.
func (e *modelEnd) answer(r modelReceipt) {
	if r.life != e.life {
		return
	}
	e.table.Advance(e.w.time())
	if r.refuse {
		e.table.Refuse(r.Receipt, RefuseUnsupported)
	} else {
		e.table.Taken(r.Receipt)
	}
	e.run()
}

// run flushes the table and does what it asks for, until it asks for nothing at this time.
func (e *modelEnd) run() {
	for range 10_000 {
		e.table.Advance(e.w.time())
		e.table.Flush()
		for _, a := range e.table.Actions() {
			e.do(a)
		}
		e.wake = e.table.Wake()
		if e.wake == 0 || e.wake > e.w.time() {
			return
		}
	}
	e.w.fail("side %d asks to be woken at once for ever, at %d", e.side, e.w.time())
}

func (e *modelEnd) do(a Action) {
	switch a := a.(type) {
	case *Transmit:
		l := modelLetter{stub: a.Stub, head: slices.Clone(a.Head), pad: a.Pad}
		for _, p := range a.Parts {
			m, ok := e.messages[p.Msg]
			if !ok || m.settled || p.Offset+p.Length > m.size || p.Length <= 0 {
				e.w.fail("side %d transmits %d bytes at %d of message %d (%+v)", e.side, p.Length, p.Offset, p.Msg, m)
				return
			}
			l.payload = append(l.payload, modelSlice{m.name, m.size, p.Offset, p.Length})
		}
		e.w.send(e, l)
	case *Hold:
		e.hold(a)
	case *Drop:
		for n := a.First; n <= a.Last; n++ {
			delete(e.held[a.Session], n)
		}
	case *Arrived:
		e.arrive(a)
	case *Settled:
		outcome := history.Record{Outcome: history.OutcomeRejected, Reason: modelReasons[a.Outcome], Maybe: a.Maybe}
		if a.Outcome == Delivered {
			outcome = history.Record{Outcome: history.OutcomeDelivered}
		}
		e.settled(a.Msg, outcome)
	case *StreamReset:
		e.w.log(e, history.Record{End: e.url.String(), Kind: history.Reset, Peer: a.Peer.String(), Session: a.Session})
	case *Gap:
		e.w.log(e, history.Record{End: e.url.String(), Kind: history.Gap, Peer: a.Peer.String(), Session: a.Session})
	case *Preferred:
		e.moves = append(e.moves, *a)
	case *CloseChannel:
		e.w.closeChannel(e, a.Stub)
	}
}

var modelReasons = map[Outcome]string{
	Expired: "expired", ExpiredNoNode: "expired", ExpiredNoRuntime: "expired", Reset: "session-reset", Superseded: "superseded", PeerUnsupported: "unsupported-payload",
}

func (e *modelEnd) settled(msg uint64, r history.Record) {
	m := e.messages[msg]
	m.settled = true
	e.messages[msg] = m
	e.open--
	r.End, r.Kind, r.Message = e.url.String(), history.Settled, m.name
	e.w.log(e, r)
}

func (e *modelEnd) hold(a *Hold) {
	offset := 0
	for _, s := range e.frames[a.Frame] {
		if offset == a.Offset && s.n == a.Length {
			if e.held[a.Session] == nil {
				e.held[a.Session] = map[uint64]modelSlice{}
			}
			if _, twice := e.held[a.Session][a.Number]; twice {
				e.w.fail("side %d holds chunk %d twice", e.side, a.Number)
			}
			e.held[a.Session][a.Number] = s
			return
		}
		offset += s.n
	}
	e.w.fail("side %d holds %d bytes at %d, which are no chunk of frame %d", e.side, a.Length, a.Offset, a.Frame)
}

// arrive puts the message together and checks that it is one, whole.
func (e *modelEnd) arrive(a *Arrived) {
	var whole modelSlice
	for n := a.First; n <= a.Last; n++ {
		s, ok := e.held[a.Receipt.Session][n]
		if !ok {
			continue
		}
		delete(e.held[a.Receipt.Session], n)
		if whole.name == "" {
			whole = s
			whole.n = 0
		}
		if s.name != whole.name || s.offset != whole.n {
			e.w.fail("side %d puts %+v behind %d bytes of %s", e.side, s, whole.n, whole.name)
			return
		}
		whole.n += s.n
	}
	if whole.name == "" || whole.n != whole.size {
		e.w.fail("side %d is handed %d of %d bytes of %q", e.side, whole.n, whole.size, whole.name)
		return
	}
	r := modelReceipt{a.Receipt, e.life, whole.name, e.w.refuses()}
	e.receipts = append(e.receipts, r)
	path := "relay"
	if a.Direct {
		path = "direct"
	}
	kind := history.Delivered
	if r.refuse {
		kind = history.Refused
	}
	e.w.log(e, history.Record{
		End: e.url.String(), Kind: kind, Message: whole.name, From: a.From.String(), To: a.To.String(), Path: path, Session: a.Receipt.Session,
	})
	e.w.arrived(e, r)
}

// heldBytes is what the body keeps for the table.
func (e *modelEnd) heldBytes() int {
	n := 0
	for _, chunks := range e.held {
		for _, s := range chunks {
			n += s.n
		}
	}
	return n
}

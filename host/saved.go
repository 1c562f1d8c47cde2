package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/snapshot"
	"github.com/hyroute/hyroute/runtime/wire"
)

// savedVersion changes with every change of what saved and a stored step hold.
const savedVersion = 1

// saved is all that the next life of a runtime needs: the base of its store.
type saved struct {
	runtime address.Address
	numbers savedNumbers
	posted  []*posted // not settled, or not released
	machine []byte    // its snapshot
}

// savedNumbers are the clocks of an instant, and the numbers given last.
type savedNumbers struct {
	wall, now uint64 // ms since 1970; on the machine's clock
	id, msg   uint64
}

func (n *savedNumbers) snapshot(c *snapshot.Codec) {
	for _, v := range []*uint64{&n.wall, &n.now, &n.id, &n.msg} {
		c.Uint64(v)
	}
}

// append writes the numbers as snapshot does.
func (n *savedNumbers) append(b []byte) []byte {
	for _, v := range []uint64{n.wall, n.now, n.id, n.msg} {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// wallOf is the time in ms since 1970.
func wallOf(t time.Time) uint64 { return uint64(max(t.UnixMilli(), 0)) }

func (s *saved) bytes() []byte {
	c := snapshot.Writer()
	s.snapshot(c)
	return c.Bytes()
}

func readSaved(b []byte) (*saved, error) {
	c := snapshot.Reader(b)
	s := &saved{}
	s.snapshot(c)
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("the stored state: %w", err)
	}
	return s, nil
}

func (s *saved) snapshot(c *snapshot.Codec) {
	version := uint64(savedVersion)
	c.Uint64(&version)
	if version != savedVersion {
		c.Fail(errors.New("written by another version of hyroute"))
		return
	}
	c.Address(&s.runtime)
	s.numbers.snapshot(c)
	snapshot.Slice(c, &s.posted, func(p **posted) {
		if c.Reading() {
			*p = &posted{}
		}
		(*p).snapshot(c)
	})
	snapshotBytes(c, &s.machine)
}

func snapshotBytes(c *snapshot.Codec, b *[]byte) {
	text := string(*b)
	c.String(&text)
	if c.Reading() {
		*b = []byte(text)
	}
}

func (p *posted) snapshot(c *snapshot.Codec) {
	c.Address(&p.event.From)
	c.Address(&p.event.To)
	c.Uint64(&p.event.Msg)
	c.String(&p.event.Lane)
	c.Uint64(&p.request)
	never, whole := p.event.Wish == engine.WishNever, p.content != nil
	for _, flag := range []*bool{&p.event.Plain, &p.left, &never, &whole} {
		c.Bool(flag)
	}
	snapshotBytes(c, &p.content)
	if c.Reading() {
		if never {
			p.event.Wish = engine.WishNever
		}
		if !whole {
			p.content = nil
		}
	}
}

// savedStep is one Step: a record of the store.
type savedStep struct {
	numbers  savedNumbers
	frame    []byte   // what the machine was told, as in wasm/ABI.md
	contents [][]byte // of the messages posted in it, in their order
}

func readStep(b []byte) (savedStep, error) {
	c := snapshot.Reader(b)
	var s savedStep
	s.numbers.snapshot(c)
	snapshotBytes(c, &s.frame)
	snapshot.Slice(c, &s.contents, func(content *[]byte) { snapshotBytes(c, content) })
	if err := c.Err(); err != nil {
		return s, fmt.Errorf("a stored step: %w", err)
	}
	return s, nil
}

// events reads what the machine was told.
func (s *savedStep) events(d *wire.Decoder) (engine.Instant, []engine.Event, error) {
	now, events, err := d.Frame(s.frame)
	if err != nil {
		return 0, nil, fmt.Errorf("a stored step: %w", err)
	}
	return now, events, nil
}

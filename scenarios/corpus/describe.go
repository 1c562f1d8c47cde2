package corpus

import (
	"fmt"
	"strings"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/wire"
)

// describe says in words what the frame's header in a line holds, so that a reader need not read hex. It is empty for lines
// without one.
func describe(line string) string {
	var head []byte
	var payload int
	var d wire.Decoder
	switch verb, _, _ := strings.Cut(line, " "); verb {
	case "frame-received":
		e, err := d.Event([]byte(line))
		if err != nil {
			return ""
		}
		received := e.(*engine.FrameReceived)
		head, payload = received.Head, received.Size
	case "transmit":
		e, err := d.Effect([]byte(line))
		if err != nil {
			return ""
		}
		transmit := e.(*engine.Transmit)
		head, payload = transmit.Head, transmit.Pad
		for _, p := range transmit.Parts {
			payload += p.Length
		}
	default:
		return ""
	}
	h, err := frame.Read(head, payload)
	if err != nil {
		return err.Error()
	}
	return header(&h)
}

func header(h *frame.Header) string {
	var b strings.Builder
	if h.Long {
		fmt.Fprintf(&b, "long src=%x dst=%x have=%x base=%d", h.Hello.Src, h.Hello.Dst, h.Hello.Have, h.Hello.Base)
		for _, c := range h.Hello.Continues {
			fmt.Fprintf(&b, " continues=%x@%d", c.Inc, c.Fork)
		}
		fmt.Fprintf(&b, " set=%d", h.Hello.Set)
		if h.Hello.Lane != "" {
			fmt.Fprintf(&b, " lane=%q", h.Hello.Lane)
		}
		fmt.Fprintf(&b, " window=%d largest=%d features=%d", h.Hello.Window, h.Hello.Largest, h.Hello.Features)
	} else {
		fmt.Fprintf(&b, "short tag=%08x", h.Tag)
	}
	fmt.Fprintf(&b, " done=%d seen=%d", h.Done, h.Seen)
	if h.Ping != 0 {
		fmt.Fprintf(&b, " ping=%08x", h.Ping)
	}
	if h.Pong != 0 {
		fmt.Fprintf(&b, " pong=%08x", h.Pong)
	}
	for i := range h.Chunks {
		fmt.Fprintf(&b, " | #%d%s", h.First+uint64(i), chunk(&h.Chunks[i]))
	}
	return b.String()
}

func chunk(c *frame.Chunk) string {
	switch {
	case c.Flags&frame.Def != 0:
		return fmt.Sprintf(" flow %d is %s -> %s", c.Flow, c.From, c.To)
	case c.Flags&frame.Refuse != 0:
		return fmt.Sprintf(" refuses #%d of %x with code %d", c.Number, c.Inc, c.Code)
	}
	var b strings.Builder
	if c.Flags&frame.Begin != 0 {
		fmt.Fprintf(&b, " begins in flow %d", c.Flow)
	}
	if c.Flags&frame.End != 0 {
		b.WriteString(" ends")
	}
	if c.Flags&frame.Tomb != 0 {
		b.WriteString(" tombstone")
		return b.String()
	}
	fmt.Fprintf(&b, " %d bytes", c.Length)
	return b.String()
}

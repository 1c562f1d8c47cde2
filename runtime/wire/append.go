package wire

import (
	"strconv"

	"github.com/hyroute/hyroute/runtime/engine"
)

// AppendEvent appends the line of an event, without its line feed.
func AppendEvent(b []byte, e engine.Event) []byte {
	f := fields{out: b}
	f.event(e)
	return f.out
}

// AppendEffect appends the line of an effect, without its line feed.
func AppendEffect(b []byte, e engine.Effect) []byte {
	f := fields{out: b}
	f.effect(e)
	return f.out
}

// AppendEffects appends effects, one line each.
func AppendEffects(b []byte, effects []engine.Effect) []byte {
	f := fields{out: b}
	for _, e := range effects {
		f.effect(e)
		f.out = append(f.out, '\n')
	}
	return f.out
}

// AppendFrame appends a frame: the time and what happened, one line each.
func AppendFrame(b []byte, now engine.Instant, events ...engine.Event) []byte {
	b = strconv.AppendUint(append(b, "at now="...), uint64(now), 10)
	f := fields{out: append(b, '\n')}
	for _, e := range events {
		f.event(e)
		f.out = append(f.out, '\n')
	}
	return f.out
}

// AppendOpen appends the line that a machine is made from, its line feed included.
func AppendOpen(b []byte, c engine.Config) []byte {
	f := fields{out: append(b, "open"...)}
	config(&f, &c)
	return append(f.out, '\n')
}

func config(f *fields, c *engine.Config) {
	f.address("runtime", &c.Runtime)
	f.number("wall", &c.Wall)
	f.bits("seed", &c.Seed)
	f.textList("domains", &c.Domains)
	f.flag("direct", &c.Direct)
}

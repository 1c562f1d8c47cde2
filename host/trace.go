package host

import (
	"fmt"
	"io"
	"strings"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
)

// trace writes what the machine is told and answers, as a scenario. A nil trace writes nothing.
type trace struct {
	to  io.Writer
	buf []byte
	err error // of the writer: nothing more is written
}

// newTrace begins a trace. Without a config the machine is that of a former life.
func newTrace(to io.Writer, c *engine.Config, effects []engine.Effect) *trace {
	if to == nil {
		return nil
	}
	t := &trace{to: to}
	t.buf = append(t.buf, "# What a runtime was told and answered.\n\n"...)
	if c == nil {
		t.buf = append(t.buf, "# It goes on from a stored state, so it can not be played alone.\n"...)
		return t
	}
	t.buf = wire.AppendOpen(t.buf, *c)
	t.answered(effects)
	return t
}

func (t *trace) told(now engine.Instant, events []engine.Event) {
	if t != nil {
		t.buf = wire.AppendFrame(append(t.buf[:0], '\n'), now, events...)
	}
}

func (t *trace) answered(effects []engine.Effect) {
	if t == nil {
		return
	}
	if len(t.buf) > 0 && t.buf[len(t.buf)-1] != '\n' {
		t.buf = append(t.buf, '\n')
	}
	t.buf = wire.AppendEffects(append(t.buf, "----\n"...), effects)
	t.flush()
}

// trapped records a frame that was left out: it is no part of the scenario.
func (t *trace) trapped(err error) {
	if t == nil {
		return
	}
	text := fmt.Sprintf("left out, for %v\n%s", err, t.buf)
	t.buf = append(t.buf[:0], '\n')
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			t.buf = append(append(append(t.buf, "# "...), line...), '\n')
		}
	}
	t.flush()
}

func (t *trace) flush() {
	if t.err == nil {
		_, t.err = t.to.Write(t.buf)
	}
	t.buf = t.buf[:0]
}

// end closes the last block.
func (t *trace) end() {
	if t != nil {
		t.buf = append(t.buf[:0], '\n')
		t.flush()
	}
}

// Package notices reads from the trace of a native runtime when its application is told of a session-reset or a gap.
//
// A program hears of these as events, beside its messages, on another goroutine: it can not say which came first. The judge
// of a history has to know that, and the trace is written before what it says is done.
package notices

import (
	"bytes"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
	"github.com/hyroute/hyroute/scenarios/history"
)

// Writer is a trace (host.Options.Trace) that has Log called with a reset or gap record of End, in the order in which the
// machine said so, and before any message that comes after it is handed over.
type Writer struct {
	End string
	Log func(history.Record)
}

var interesting = [][]byte{[]byte("\nsession-reset "), []byte("\ngap ")}

// Write takes whole lines, as a runtime writes them.
func (w *Writer) Write(block []byte) (int, error) {
	for _, verb := range interesting {
		if bytes.Contains(block, verb) {
			return len(block), w.read(block)
		}
	}
	return len(block), nil
}

func (w *Writer) read(block []byte) error {
	for line := range bytes.Lines(block) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if !bytes.HasPrefix(line, []byte("session-reset ")) && !bytes.HasPrefix(line, []byte("gap ")) {
			continue
		}
		var d wire.Decoder
		effect, err := d.Effect(line)
		if err != nil {
			return err
		}
		switch e := effect.(type) {
		case *engine.SessionReset:
			w.Log(history.Record{Kind: history.Reset, End: w.End, Peer: e.Peer.String(), Session: e.Session})
		case *engine.Gap:
			w.Log(history.Record{Kind: history.Gap, End: w.End, Peer: e.Peer.String(), Session: e.Session})
		}
	}
	return nil
}

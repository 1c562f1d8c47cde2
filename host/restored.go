package host

import (
	"encoding/json"

	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/message"
)

// Restored is a message that a former life of this runtime posted, and that it did not live to hear the outcome of. This life
// goes on with it: Done, Result and Wait say what becomes of it, as for any other.
type Restored struct {
	// Draft is the message: Post would send it once more. Its Value is a string, a []byte or a json.RawMessage; it is nil
	// for a request that was delivered and still waits for its answer. Deadline and AnswerWithin are not told.
	Draft Draft
	*Sent
}

// Answer is that of a request, when it is Done and came well.
func (x *Restored) Answer() *Message {
	if x.over.Load() {
		return x.answer
	}
	return nil
}

// Restored are the messages of the former life (Options.Store) that were not settled, in the order in which they were posted. What it
// posted and is not among them was settled in its time, or never stored: see Sent.Stored. The outcomes that it was told at the very
// end are told again: it may not have lived to hear them. Those whose sender had given up waiting are among them as well.
func (r *Runtime) Restored() []*Restored { return r.restored }

func restoredOf(pending []*posted) []*Restored {
	all := make([]*Restored, 0, len(pending))
	for _, p := range pending {
		all = append(all, &Restored{Draft: p.draft(), Sent: &p.sent})
	}
	return all
}

// draft is the message as it was drafted.
func (p *posted) draft() Draft {
	d := Draft{From: p.event.From.String(), To: p.event.To.String(), Lane: p.event.Lane, RelayOnly: p.event.Wish == engine.WishNever}
	c, err := message.ReadContent(p.content)
	if p.content == nil || err != nil {
		return d
	}
	if c.Type <= message.Event {
		d.Type = c.Type.String()
	}
	switch c.Form {
	case message.Text:
		d.Value = string(c.Body)
	case message.JSON:
		d.Value = json.RawMessage(append([]byte(nil), c.Body...))
	default:
		d.Value = append([]byte{}, c.Body...)
	}
	return d
}

// requestOf is the id of a request, or 0.
func requestOf(content []byte) uint64 {
	if c, err := message.ReadContent(content); err == nil && c.Request {
		return c.ID
	}
	return 0
}

package history

import "fmt"

// judgeMessage judges what can be said of a message alone.
func (x *index) judgeMessage(m *message, o Options) {
	if m.posted < 0 {
		for _, i := range m.settled {
			x.blame(Invented, i, "settled, but never posted")
		}
		for _, d := range m.delivered {
			x.blame(Invented, d.at, "delivered, but never posted")
		}
		for _, i := range m.refused {
			x.blame(Invented, i, "refused, but never posted")
		}
		return
	}
	x.judgeDeliveries(m, o)
	for _, i := range m.settled[min(1, len(m.settled)):] {
		x.blame(SettledTwice, i, "it was settled before")
	}
	last, ok := x.outcome(m)
	if !ok {
		if alive := m.by.number == x.lives[m.by.end]; alive && !o.Open {
			x.blame(Unsettled, m.posted, "posted, and never settled")
		}
		return
	}
	if last.End != m.by.end {
		x.blame(Malformed, m.settled[0], "settled at an end that did not post it")
	}
	switch last.Outcome {
	case OutcomeDelivered:
		if !x.deliveredBefore(m, o) {
			x.blame(FalseDelivered, m.settled[0], "settled as delivered, and no listener had it")
		}
	case OutcomeRejected:
		if !last.Maybe && len(m.delivered) > 0 && !(refusedByReceiver(last.Reason) && x.byOtherLives(m)) {
			x.blame(FalseSure, m.settled[0], "rejected for sure ("+last.Reason+"), and a listener had it")
		}
	case OutcomeTaken:
	default:
		x.blame(Malformed, m.settled[0], fmt.Sprintf("unknown outcome %q", last.Outcome))
	}
}

func (x *index) deliveredBefore(m *message, o Options) bool {
	for _, d := range m.delivered {
		if !o.OneClock || d.at < m.settled[0] {
			return true
		}
	}
	return false
}

func (x *index) judgeDeliveries(m *message, o Options) {
	post := x.records[m.posted]
	for n, d := range m.delivered {
		r := x.records[d.at]
		if r.From != post.From || r.To != post.To {
			x.blame(Altered, d.at, "posted from "+post.From+" to "+post.To+", delivered from "+r.From+" to "+r.To)
		} else if r.Content != post.Content && r.Content != "" && post.Content != "" {
			x.blame(Altered, d.at, "another content than posted")
		}
		if n == 0 {
			continue
		}
		before := m.delivered[n-1]
		if !x.forgiven(m, before, d, o) {
			x.blame(Repeated, d.at, fmt.Sprintf("delivered before, by record %d of %s", before.at, before.life.end))
		}
	}
}

// forgiven says whether a second delivery could not be helped. A receiver that lost its memory before its first
// acknowledgement left it may be given the message again, for nobody who lives knows of the first time.
func (x *index) forgiven(m *message, first, second delivery, o Options) bool {
	if first.life == second.life {
		return false
	}
	if o.OneClock && !o.Zombies && len(m.settled) > 0 && m.settled[0] < second.at {
		return false
	}
	dead := func(l life) bool { return l.number < x.lives[l.end] }
	return dead(first.life) || !o.OneClock && dead(second.life)
}

// judgeStream judges the deliveries of one stream to one life of a receiver, in their order.
func (x *index) judgeStream(at life, ts []*taken, o Options) {
	last := map[life]*taken{} // newest of each life of each sender
	high := -1                // newest life of the sender that was heard
	var highTaken *taken
	for _, t := range ts {
		m := t.message
		if m.posted < 0 || x.plain(m) {
			continue
		}
		peer := m.by.end
		session := x.records[t.at].Session
		switch {
		case highTaken == nil || highTaken.message.by.end != peer:
		case m.by.number < high:
			x.blame(OutOfOrder, t.at, fmt.Sprintf("from a life of its sender that ended before the one of %q, which came first", highTaken.message.name))
		case m.by.number > high && !x.told(x.gaps[at.end], peer, session, highTaken.at, t.at):
			x.blame(ForgottenLife, t.at, fmt.Sprintf("its sender lost its memory after %q, and no gap told so", highTaken.message.name))
		}
		if highTaken == nil || highTaken.message.by.end != peer || m.by.number > high {
			high = m.by.number
		}
		highTaken = t
		before := last[m.by]
		if before != nil && before.message == m {
			continue // repeated, which is judged elsewhere
		}
		if before != nil && before.message.place > m.place {
			x.blame(OutOfOrder, t.at, fmt.Sprintf("posted before %q, delivered after it", before.message.name))
			continue
		}
		x.judgeHole(at, before, t, o)
		last[m.by] = t
	}
}

// plain says whether m went by a way that promises no order.
func (x *index) plain(m *message) bool {
	r, ok := x.outcome(m)
	return ok && r.Outcome == OutcomeTaken
}

// judgeHole looks at what is missing between two deliveries that follow one another in a stream (before nil: from its start).
func (x *index) judgeHole(at life, before, t *taken, o Options) {
	from, after := 0, -1
	if before != nil {
		from, after = before.message.place+1, before.at
	}
	peer := t.message.by.end
	// Who lost his memory knows that he starts in the middle; it needs no gap to tell him.
	gap := before == nil && at.number > 0 || x.told(x.gaps[at.end], peer, x.records[t.at].Session, after, t.at)
	for _, m := range x.posts[t.message.by][t.message.stream][from:t.message.place] {
		if len(m.delivered) > 0 {
			x.judgeForgotten(m, at, t, o)
			continue
		}
		if gap || len(m.refused) > 0 {
			continue
		}
		r, ok := x.outcome(m)
		switch {
		case !ok && m.by.number < x.lives[m.by.end]:
			// Its sender lost its memory before it could be told, so that a refusal of the receiver looks like a loss.
		case !ok:
			x.blame(Lost, t.at, fmt.Sprintf("%q was posted before it, was not delivered, and nobody was told", m.name))
		case r.Outcome == OutcomeRejected && o.OneClock && m.settled[0] > t.at && givenUp(r, o):
			x.blame(Lost, t.at, fmt.Sprintf("%q was posted before it, and its sender was told only afterwards (%s)", m.name, r.Reason))
		}
	}
}

// refusedByReceiver says whether a message rejected for this reason was refused by its receiver. A refusal speaks only for
// the life of the receiver that gave it.
func refusedByReceiver(reason string) bool {
	switch reason {
	case "no-listener", "not-bound", "refused", "unsupported-payload":
		return true
	}
	return false
}

// byOtherLives says whether those who had m may all be other lives than the one that refused it.
func (x *index) byOtherLives(m *message) bool {
	for _, d := range m.delivered {
		if x.lives[d.life.end] == 0 {
			return false
		}
		for _, i := range m.refused {
			if x.at[i] == d.life {
				return false
			}
		}
	}
	return true
}

// givenUp says whether a message was given up by its sender's session itself, so that the sender knew before the session
// went on. Other rejections are answers of a receiver, and take their time: on their way the message may still expire or end in
// a session-reset, as maybe.
func givenUp(r Record, o Options) bool {
	return r.Reason == "expired" && !r.Maybe || o.Refusals && (r.Reason == "session-reset" || r.Reason == "expired")
}

// judgeForgotten looks at a message that an earlier life of the receiver had, now that a later one came to a life that
// knows nothing of it: the sender believed it delivered, so it must have been told in between.
func (x *index) judgeForgotten(m *message, at life, t *taken, o Options) {
	forgotten := true
	for _, d := range m.delivered {
		forgotten = forgotten && d.life.end == at.end && d.life.number < at.number
	}
	if o.Zombies && len(t.message.settled) > 0 && t.message.settled[0] < t.at {
		return // a frame of old times brought it; what its sender was told about it was true
	}
	r, ok := x.outcome(m)
	if !forgotten || !ok || r.Outcome != OutcomeDelivered {
		return
	}
	before := len(x.records)
	if len(t.message.settled) > 0 {
		before = t.message.settled[0]
	}
	if !x.told(x.resets[m.by.end], at.end, 0, m.settled[0], before) {
		x.blame(SilentLoss, t.at, fmt.Sprintf("%q was settled as delivered, its receiver then lost its memory, and its sender was not told", m.name))
	}
}

// judgeNotices asks whether each session-reset and gap was paid for by a loss of memory at one of the two ends.
func (x *index) judgeNotices() {
	for _, end := range x.ends {
		x.judgeNeed(end, x.gaps[end], "gap")
		x.judgeNeed(end, x.resets[end], "session-reset")
		type key struct {
			peer    string
			life    int
			session uint64
		}
		count := map[key]int{}
		for _, i := range x.resets[end] {
			r := x.records[i]
			if r.Peer == "" {
				continue
			}
			k := key{r.Peer, x.at[i].number, r.Session}
			if count[k]++; count[k] > x.lives[end]+x.lives[r.Peer] && x.lives[end]+x.lives[r.Peer] > 0 {
				x.blame(Unpaid, i, fmt.Sprintf("session-reset number %d, after %d losses of memory", count[k], x.lives[end]+x.lives[r.Peer]))
			}
		}
	}
}

func (x *index) judgeNeed(end string, list []int, what string) {
	for _, i := range list {
		peer := x.records[i].Peer
		lost := x.lives[end] + x.lives[peer]
		if peer == "" {
			lost = 0
			for _, n := range x.lives {
				lost += n
			}
		}
		if lost == 0 {
			x.blame(Needless, i, what+", and neither end ever lost its memory")
		}
	}
}

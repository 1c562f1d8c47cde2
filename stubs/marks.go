package stubs

import "time"

// The bounds of a high mark, in bytes.
const (
	MinMark = 64 << 10
	MaxMark = 1 << 20
)

const (
	markWindow = 250 * time.Millisecond
	markSlots  = 5
)

// Marks says how much may wait to be sent on a carrier: what it moved in the last 250 ms, between MinMark and MaxMark, so
// that a probe never waits behind seconds of payload on a slow link (session.md, addition 5). The zero value is ready. It
// is not safe for concurrent use.
type Marks struct {
	slots [markSlots]uint64
	at    int64 // number of the newest slot
}

// Moved records that n bytes left at now.
func (m *Marks) Moved(now time.Time, n int) {
	m.turn(now)
	m.slots[m.at%markSlots] += uint64(n)
}

// High is the mark above which senders should stop, in bytes.
func (m *Marks) High(now time.Time) int {
	m.turn(now)
	var sum uint64
	for _, n := range m.slots {
		sum += n
	}
	return int(min(max(sum, MinMark), MaxMark))
}

// Low is the mark at which they may go on.
func (m *Marks) Low(now time.Time) int { return m.High(now) / 4 }

// turn empties the slots that are older than the window. A clock that went back counts as standing still.
func (m *Marks) turn(now time.Time) {
	slot := now.UnixNano() / int64(markWindow/markSlots)
	if slot-m.at >= markSlots {
		m.slots = [markSlots]uint64{}
		m.at = slot
	}
	for m.at < slot {
		m.at++
		m.slots[m.at%markSlots] = 0
	}
}

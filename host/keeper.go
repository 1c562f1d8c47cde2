package host

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/hyroute/hyroute/host/store"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/wire"
)

// leastJournal is how many bytes of steps gather before a new base takes their place, unless the base itself is larger.
const leastJournal = 8 << 20

// keeper stores what a runtime must not forget (session.md 3.5, the commit way): each Step before anything of it leaves. A nil
// keeper stores nothing. The loop's goroutine owns it.
type keeper struct {
	store *store.Store
	limit int64    // of the journal
	waits []func() // to be called when the step under way is stored

	// Used again for each Step.
	frame, text []byte
	ends        []int
	parts       [][]byte
}

// whenStored calls f once what was told so far is stored; without a store, at once.
func (l *loop) whenStored(f func()) {
	if l.keeper == nil {
		f()
		return
	}
	l.keeper.waits = append(l.keeper.waits, f)
}

// stored lets those go who wait.
func (k *keeper) stored() {
	for i, f := range k.waits {
		f()
		k.waits[i] = nil
	}
	k.waits = k.waits[:0]
}

func (l *loop) numbers(now engine.Instant) savedNumbers {
	return savedNumbers{
		wall: wallOf(l.runtime.options.Clock()), now: uint64(now), id: l.runtime.lastID.Load(), msg: l.outbox.last,
	}
}

// keepStep stores a Step, whose effects may be carried out if there is no error. What it writes is read by readStep.
func (l *loop) keepStep(now engine.Instant, events []engine.Event) error {
	k := l.keeper
	if k == nil {
		return nil
	}
	k.frame = wire.AppendFrame(k.frame[:0], now, events...)
	numbers := l.numbers(now)
	k.text = numbers.append(k.text[:0])
	k.text = binary.AppendUvarint(k.text, uint64(len(k.frame)))
	k.text = append(k.text, k.frame...)
	var contents [][]byte
	for _, e := range events {
		if e, ok := e.(*engine.MessagePosted); ok {
			contents = append(contents, l.outbox.posted.get(e.Msg).content)
		}
	}
	k.text = binary.AppendUvarint(k.text, uint64(len(contents)))
	// Contents may be long: they are not copied into the text, but stored in its gaps.
	ends := k.ends[:0]
	for _, c := range contents {
		k.text = binary.AppendUvarint(k.text, uint64(len(c)))
		ends = append(ends, len(k.text))
	}
	k.ends = ends
	parts, from := k.parts[:0], 0
	for i, c := range contents {
		parts = append(parts, k.text[from:ends[i]], c)
		from = ends[i]
	}
	parts = append(parts, k.text[from:])
	err := k.store.Append(parts...)
	clear(parts)
	k.parts = parts
	if err != nil {
		return err
	}
	k.stored()
	return nil
}

// keepState stores the whole state, between two Steps, in the place of all steps before.
func (l *loop) keepState() error {
	machine, err := l.machine.Snapshot()
	if err != nil {
		return err
	}
	s := saved{runtime: l.runtime.url, numbers: l.numbers(l.now()), posted: l.outbox.posted.all(), machine: machine}
	return l.keeper.store.Replace(s.bytes())
}

// shorten stores the whole state when many steps have gathered.
func (l *loop) shorten() {
	k := l.keeper
	if k == nil || l.over {
		return
	}
	grown, base := k.store.Grown()
	if grown < max(k.limit, 2*base) {
		return
	}
	if err := l.keepState(); err != nil {
		// The steps are all there still: it is only the file that grows.
		l.problem(fmt.Sprintf("the store can not be made smaller: %v", err))
		k.limit = 2 * grown
		return
	}
	k.limit = leastJournal
}

// ahead is longer than a machine waits with what it will say anyway, such as the acknowledgement of what was taken just now.
const ahead = 50 * time.Millisecond

// rest stores the whole state for the next life, and ends the loop. What waits stays in the store.
func (l *loop) rest() {
	for _, e := range l.endpoints {
		l.takeHeld(e)
	}
	l.step()
	l.start = l.start.Add(-ahead)
	l.tell(&engine.TimePassed{})
	for turns := 0; len(l.events) > 0 && turns < 8 && !l.over; turns++ {
		l.step()
	}
	if l.over {
		return
	}
	if err := l.keepState(); err != nil {
		l.problem(fmt.Sprintf("the store can not be made smaller: %v", err))
	}
	for _, p := range l.outbox.posted.all() {
		p.left = true // the next life sends it
	}
	l.over = true
}

// notKept ends a loop that can not store a Step: nothing of it has left, and nothing will.
func (l *loop) notKept(err error) {
	l.problem("the store can not be written, so this runtime closes: " + err.Error())
	for _, p := range l.outbox.posted.all() {
		p.left = true // the next life may find it stored after all, and send it
	}
	l.outbox.rejectAll(NotStored, err)
	l.over = true
}

// end lets go of the store.
func (k *keeper) end() error {
	if k == nil {
		return nil
	}
	k.stored()
	return k.store.Close()
}

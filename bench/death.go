//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A stream of numbered messages runs while a fault happens to it.
const (
	deathRate  = 200             // messages a second
	deathSize  = 200             // bytes
	deathFault = 5 * time.Second // after the stream began
	// hang is how long a page does nothing before it is killed.
	hang = 50 * time.Millisecond
	// together is how many such streams run at a time: one takes a small share of a core.
	together = 3
)

// A gap is the fault's if it begins so near to it. Others are the way back to the direct path, or the machine's.
const faultBefore, faultAfter = 300 * time.Millisecond, 500 * time.Millisecond

// fault is one that happens to a stream.
type fault struct {
	name, title string
	applies     func(s subject) bool
	length      time.Duration // of the stream
	happen      func(d *death, ctx context.Context) error
}

var faults = []fault{
	{"connection", "the peer connection is closed at the receiver", func(s subject) bool { return s.direct }, 18 * time.Second, (*death).closeConnection},
	{"page", "the receiver's page is killed, and opened again 2 s later", func(subject) bool { return true }, 25 * time.Second, (*death).killPage},
	{"reload", "the receiver's page is loaded again", func(subject) bool { return true }, 18 * time.Second, (*death).reload},
	{"server", "the server is killed, and starts again 1 s later", func(s subject) bool { return !s.direct || s.server == "hyroute" }, 18 * time.Second, (*death).killServer},
}

// death is one stream.
type death struct {
	*pair
	fault    fault
	pages    int       // that were the receiver
	happened time.Time // the fault
	back     time.Time // the killed page is ready again; zero: it is not

	lock sync.Mutex
	got  []receipt
	told []event // all that was told; what the receiver was told begins with theirs
}

// theirs is before what the receiver was told.
const theirs = "receiver: "

// receipt is a message that came.
type receipt struct {
	number int
	at     time.Time
}

// event is what a subject told its user.
type event struct {
	text string
	at   time.Time
}

// deaths runs all streams of all subjects, some at a time.
func (b *bench) deaths(ctx context.Context, s subject) (results []result, err error) {
	for _, f := range faults {
		if !f.applies(s) {
			continue
		}
		r, failed := b.death(ctx, s, f)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", f.name, failed))
			continue
		}
		r.Case = f.name
		results = append(results, r)
	}
	return results, err
}

func (b *bench) death(ctx context.Context, s subject, f fault) (r result, err error) {
	p, err := b.newPair(ctx, s)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.close(context.WithoutCancel(ctx))) }()
	p.keep = true
	d := &death{pair: p, fault: f}
	zero, err := zeroOf(ctx, p.a)
	if err != nil {
		return r, err
	}
	if err := d.listen(ctx, p.a.(page), zero, d.tell); err != nil {
		return r, err
	}
	if err := d.receive(ctx); err != nil {
		return r, err
	}
	if err := p.open(ctx); err != nil {
		return r, err
	}
	var stream struct {
		Begun float64
		Total int
	}
	ended := make(chan error, 1)
	argument := map[string]any{"rate": deathRate, "ms": f.length.Milliseconds(), "size": deathSize}
	go func() { ended <- p.a.Call(ctx, "numbered", &stream, argument) }()
	if err := pause(ctx, deathFault); err != nil {
		return r, err
	}
	d.happened = time.Now()
	if err := f.happen(d, ctx); err != nil {
		return r, err
	}
	if err := <-ended; err != nil {
		return r, err
	}
	outcome, err := d.outcome(ctx)
	if err != nil {
		return r, err
	}
	begun := zero.Add(milliseconds(stream.Begun))
	return d.judge(begun, stream.Total, outcome, zero), nil
}

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-time.After(length):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// word is what a page tells.
type word struct {
	Got   int // number; 0 with an event
	Event string
	At    float64
}

// listen hears a page whose clock was at 0 at that time.
func (d *death) listen(ctx context.Context, p page, zero time.Time, fn func(word, time.Time)) error {
	return p.Listen(ctx, "tell", func(payload string) {
		var w word
		if err := json.Unmarshal([]byte(payload), &w); err != nil {
			fmt.Fprintln(os.Stderr, "a page told what can not be read:", payload)
			return
		}
		fn(w, zero.Add(milliseconds(w.At)))
	})
}

// receive hears the receiving page as it is now, be it by what it posts when it goes.
func (d *death) receive(ctx context.Context) error {
	p := d.b.(page)
	zero, err := zeroOf(ctx, p)
	if err != nil {
		return err
	}
	known := map[word]bool{} // told before
	take := func(w word, at time.Time) {
		d.lock.Lock()
		repeated := w.Event == "" && known[w]
		known[w] = true
		d.lock.Unlock()
		if !repeated {
			d.take(w, at)
		}
	}
	d.pages++
	name := fmt.Sprintf("%s-%d", d.room, d.pages)
	d.bench.site.hear(name, func(body []byte) {
		var words []word
		if err := json.Unmarshal(body, &words); err != nil {
			fmt.Fprintln(os.Stderr, "a page posted what can not be read:", err)
			return
		}
		for _, w := range words {
			take(w, zero.Add(milliseconds(w.At)))
		}
	})
	if err := d.listen(ctx, p, zero, take); err != nil {
		return err
	}
	return p.Call(ctx, "live", nil, name)
}

func (d *death) take(w word, at time.Time) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if w.Event != "" {
		d.told = append(d.told, event{theirs + w.Event, at})
	} else {
		d.got = append(d.got, receipt{w.Got, at})
	}
}

func (d *death) tell(w word, at time.Time) {
	if w.Event == "" {
		return
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	d.told = append(d.told, event{w.Event, at})
}

func (d *death) closeConnection(ctx context.Context) error {
	var closed int
	if err := d.b.Call(ctx, "cut", &closed); err != nil {
		return err
	}
	if closed == 0 {
		return errors.New("there was no connection to close")
	}
	return nil
}

func (d *death) killServer(ctx context.Context) error {
	if err := d.server.kill(); err != nil {
		return err
	}
	if err := pause(ctx, time.Second); err != nil {
		return err
	}
	again, err := d.bench.startServer(ctx, d.subject.server, d.server.port)
	if err != nil {
		return err
	}
	d.server = again
	return nil
}

func (d *death) killPage(ctx context.Context) error {
	// What a page has told in its last moments would die with it, and count as lost though it came: it hangs first, until all is told.
	if err := d.b.Call(ctx, "hang", nil); err != nil {
		return err
	}
	if err := pause(ctx, hang); err != nil {
		return err
	}
	if err := d.b.(page).Crash(ctx); err != nil {
		return err
	}
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	return d.reopen(ctx)
}

// reload loads the receiver's page again.
func (d *death) reload(ctx context.Context) error {
	p := d.b.(page)
	if err := p.Reload(ctx); err != nil {
		return err
	}
	if err := p.load(ctx, d.subject); err != nil {
		return err
	}
	return d.again(ctx, p)
}

// reopen loads the receiver's page after it was killed.
func (d *death) reopen(ctx context.Context) error {
	p, err := d.bench.load(ctx, d.b.(page).Page, d.subject)
	if err != nil {
		return err
	}
	return d.again(ctx, p)
}

// again opens the subject in the receiver's new page.
func (d *death) again(ctx context.Context, p page) error {
	d.b = p
	if err := d.receive(ctx); err != nil {
		return err
	}
	// Some are ready only when the other side has found them.
	go func() {
		if d.b.Call(ctx, "open", nil, d.options("b")) == nil {
			d.lock.Lock()
			defer d.lock.Unlock()
			d.back = time.Now()
		}
	}()
	return nil
}

// outcome is what the sender was told of its messages.
type outcome struct {
	Open    int // nobody knows yet
	Refused []struct {
		Number int
		At     float64
		Why    string
		Maybe  bool
	}
}

// outcome waits until the sender knows what became of each message, where its subject tells; at most longer than a deadline is.
func (d *death) outcome(ctx context.Context) (outcome, error) {
	if err := pause(ctx, 3*time.Second); err != nil {
		return outcome{}, err
	}
	for end := time.Now().Add(35 * time.Second); ; {
		var o outcome
		if err := d.a.Call(ctx, "outcome", &o); err != nil || o.Open == 0 || time.Now().After(end) {
			return o, err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return outcome{}, err
		}
	}
}

// judge compares what was sent with what came.
func (d *death) judge(begun time.Time, total int, o outcome, zero time.Time) result {
	d.lock.Lock()
	defer d.lock.Unlock()
	end := begun.Add(d.fault.length)
	refused := map[int]bool{}
	var noticed time.Time
	notice := func(at time.Time) {
		if at.After(d.happened) && (noticed.IsZero() || at.Before(noticed)) {
			noticed = at
		}
	}
	for _, r := range o.Refused {
		refused[r.Number] = true
		notice(zero.Add(milliseconds(r.At)))
	}
	var said []string
	slices.SortStableFunc(d.told, func(x, y event) int { return x.at.Compare(y.at) })
	for _, e := range d.told {
		if e.at.Before(d.happened) {
			continue
		}
		if strings.HasPrefix(e.text, "down") {
			notice(e.at)
		}
		said = append(said, fmt.Sprintf("%.0f ms %s", inMS(e.at.Sub(d.happened)), strings.TrimSpace(e.text)))
	}
	got := map[int]bool{}
	var repeated, disorder, refusedButCame int
	var gap, faultGap time.Duration
	widest := func(from, to time.Time) {
		length := to.Sub(from)
		gap = max(gap, length)
		if since := from.Sub(d.happened); since > -faultBefore && since < faultAfter {
			faultGap = max(faultGap, length)
		}
	}
	highest, last := -1, begun
	slices.SortStableFunc(d.got, func(x, y receipt) int { return x.at.Compare(y.at) })
	for _, r := range d.got {
		if got[r.number] {
			repeated++
		} else if refused[r.number] {
			refusedButCame++
		}
		got[r.number] = true
		if r.number < highest {
			disorder++
		}
		highest = max(highest, r.number)
		widest(last, r.at)
		last = r.at
	}
	widest(last, end)
	lost := 0
	for number := range total {
		if !got[number] && !refused[number] {
			if lost++; lost == 1 {
				said = append(said, fmt.Sprintf("the first lost one is %d", number))
			}
		}
	}
	values := map[string]float64{
		"accepted": float64(total - len(refused)), "lost": float64(lost), "refused": float64(len(refused)), "came": float64(refusedButCame),
		"repeated": float64(repeated), "disorder": float64(disorder), "gap": inMS(gap), "faultgap": inMS(faultGap), "recovered": 0,
	}
	if end.Sub(last) < time.Second {
		values["recovered"] = 1
	}
	if !noticed.IsZero() {
		values["noticed"] = inMS(noticed.Sub(d.happened))
	}
	if !d.back.IsZero() {
		values["back"] = inMS(d.back.Sub(d.happened))
	}
	return result{Values: values, Text: strings.Join(said, "; ")}
}

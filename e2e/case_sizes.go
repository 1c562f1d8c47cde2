//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

const (
	chatRate     = 20 // messages a second
	chatLatest   = 500 * time.Millisecond
	sessionBytes = 1 << 20 // the session's window (session.md 4.6)
	bigFile      = 16 << 20
)

// sizes: files of all sizes go in a lane of their own beside a chat. In the middle of the longest the direct path dies.
func sizes(ctx context.Context, st *stage) error {
	var cut span
	var done time.Duration
	st.trace = true
	st.wants = wants{gap: 3 * time.Second}
	files := []int{1, 16 << 10, 256 << 10, 1 << 20, bigFile}
	st.checks = append(st.checks,
		func(records []history.Record) error { return st.chatInTime(records, cut) },
		func([]history.Record) error { return st.sentAgain(ctx) },
	)
	// The chat goes on for as long as the files take, and a little longer.
	count := 25 * chatRate
	ctx, stop := context.WithTimeout(ctx, 25*time.Second+patience)
	defer stop()
	if err := st.begin(ctx); err != nil {
		return err
	}
	b := st.network.Ends()[1]
	send := func(number int) error {
		return st.a.file(ctx, file{To: st.b.address, Number: number, Size: files[number], Lane: "files", Deadline: 60_000})
	}
	err := both(
		func() error { return st.bothStream(ctx, plan{Count: count, Rate: chatRate, First: st.first}) },
		func() error {
			last := len(files) - 1
			for number := range last {
				if err := send(number); err != nil {
					return err
				}
			}
			if err := b.DropUDPAfter(bigFile / 2); err != nil {
				return err
			}
			begun := st.since()
			sent := make(chan error, 1)
			go func() { sent <- send(last) }()
			for cut.from == 0 {
				n, err := b.Dropped()
				if err != nil {
					return err
				}
				select {
				case err := <-sent:
					return errors.Join(err, errors.New("the file was there before the path died: that says nothing"))
				case <-time.After(20 * time.Millisecond):
				}
				if n > 0 {
					cut.from = st.since()
					st.note("the direct path is dead, in the middle of the file")
				}
			}
			err := <-sent
			done = st.since()
			cut.to = done
			st.seen["fileMs"] = (done - begun).Milliseconds()
			st.note("the file is there")
			return errors.Join(err, b.PassUDP())
		},
	)
	st.wants.sent += 2*count + len(files)
	return err
}

// chatInTime says so if the messages of the chat took too long, those beside the cut left out.
func (st *stage) chatInTime(records []history.Record, cut span) error {
	const noticed = 3 * time.Second // until the traffic goes on by the other path
	posted := map[string]time.Duration{}
	for _, r := range records {
		at := time.Duration(r.At) * time.Millisecond
		if r.Kind == history.Posted && r.Lane == "" && (at < cut.from-chatLatest || at > cut.from+noticed) {
			posted[r.Message] = at
		}
	}
	var took []time.Duration
	for _, r := range records {
		if at, ok := posted[r.Message]; ok && r.Kind == history.Delivered {
			took = append(took, time.Duration(r.At)*time.Millisecond-at)
		}
	}
	if len(took) < 100 {
		return fmt.Errorf("%d messages of the chat were posted outside the cut: that says nothing", len(took))
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	st.seen["chatP99Ms"], st.seen["chatP50Ms"] = p99.Milliseconds(), took[len(took)/2].Milliseconds()
	if p99 >= chatLatest {
		return fmt.Errorf("of %d messages of the chat one in a hundred took %v and more: less than %v was wanted", len(took), p99, chatLatest)
	}
	return nil
}

var (
	transmits = regexp.MustCompile(`(?:^|\s)transmit .*parts=(\S+)`)
	part      = regexp.MustCompile(`(\d+):(\d+):(\d+)`)
)

// sentAgain says so if more than two windows of the longest file were sent more than once: it counts the bytes that the
// sender's machine had transmitted.
func (st *stage) sentAgain(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer stop()
	trace, err := st.a.trace(ctx)
	if err != nil {
		return err
	}
	bytes := map[string]int{}
	for line := range strings.Lines(trace) {
		m := transmits.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, p := range part.FindAllStringSubmatch(m[1], -1) {
			n, err := strconv.Atoi(p[3])
			if err != nil {
				return err
			}
			bytes[p[1]] += n
		}
	}
	again := -1
	for _, n := range bytes {
		again = max(again, n-bigFile)
	}
	st.seen["sentAgain"] = again
	switch {
	case again < 0:
		return fmt.Errorf("no message of %d bytes was transmitted", bigFile)
	case again == 0:
		return errors.New("nothing was sent again: the path did not die in the middle of the file")
	case again > 2*sessionBytes:
		return fmt.Errorf("%d bytes of the file were sent again: two windows are %d", again, 2*sessionBytes)
	}
	return nil
}

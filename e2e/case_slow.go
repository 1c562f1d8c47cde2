//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hyroute/hyroute/scenarios/history"
)

const (
	slowPace = 100 // ms for a message
	// mostMemory is what the sender's processes may grow by. Most of it is what this case keeps itself (a history of all that it
	// offered) and what a browser has not collected yet; what waits is counted exactly, by mostOwed.
	mostMemory = 320 << 20
	// mostOwed is what may wait for a receiver that does not take: the queue, and a window of the smallest messages.
	mostOwed = 4096 + sessionBytes/64
)

// slowReader: b takes ten messages a second, a offers ten thousand, first by the direct path, then by the relay. What does
// not fit is refused at once, what was accepted arrives when b is quick again, and nobody is thrown out.
func slowReader(ctx context.Context, st *stage) error {
	count, rate := 30_000, 10_000
	if st.settings.short {
		count = 15_000
	}
	st.wants = wants{refused: "too-many"}
	st.checks = append(st.checks, func(records []history.Record) error { return errors.Join(refusedSome(records), st.nobodyLeft()) })
	ctx, stop := context.WithTimeout(ctx, 60*time.Second+patience)
	defer stop()
	if err := st.begin(ctx); err != nil {
		return err
	}
	for _, relay := range []bool{false, true} {
		name := map[bool]string{false: "direct", true: "relay"}[relay]
		before, err := memory(st.a.group())
		if err != nil {
			return err
		}
		if err := st.b.setPace(ctx, slowPace); err != nil {
			return err
		}
		st.note("b takes %d ms for a message; a offers by the %s path", slowPace, name)
		offered := make(chan error, 1)
		go func() {
			offered <- st.a.stream(ctx, plan{To: st.b.address, Count: count, Rate: rate, First: st.first, Relay: relay, Deadline: 120_000})
		}()
		if _, err := st.a.news.wait(ctx, eventPosted, func(e event) bool { return e.Count == count && e.at.Sub(st.begun) > 0 }); err != nil {
			return err
		}
		// Now it is full, and stays so for a while.
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		after, err := memory(st.a.group())
		if err != nil {
			return err
		}
		owed, err := st.a.owed(ctx)
		if err != nil {
			return err
		}
		st.seen[name] = map[string]int{"grewKB": (after - before) >> 10, "owed": owed}
		if owed == 0 || owed > mostOwed {
			return fmt.Errorf("%s: %d messages are on their way to a slow receiver: at most %d may be, and not none", name, owed, mostOwed)
		}
		if after-before > mostMemory {
			return fmt.Errorf("%s: the sender grew by %d MB", name, (after-before)>>20)
		}
		if err := st.b.setPace(ctx, 0); err != nil {
			return err
		}
		st.note("b is quick")
		if err := <-offered; err != nil {
			return err
		}
		st.first += count
		st.wants.sent += count
		st.a.news.forget(eventPosted)
	}
	return nil
}

// refusedSome says so if nothing was refused: then nothing was full.
func refusedSome(records []history.Record) error {
	for _, r := range records {
		if r.Kind == history.Settled && r.Outcome == history.OutcomeRejected {
			return nil
		}
	}
	return errors.New("nothing was refused: that says nothing")
}

// nobodyLeft says so if an end lost its node or a peer connection.
func (st *stage) nobodyLeft() (wrong error) {
	for _, s := range st.sides() {
		for _, name := range []string{eventNode, eventPeer} {
			for _, e := range s.news.of(name) {
				if e.Text == "disconnected" || e.Text == "failed" {
					wrong = errors.Join(wrong, fmt.Errorf("%s: its %s connection was %s at %v", s.name, name, e.Text, e.at.Sub(st.begun)))
				}
			}
		}
	}
	return wrong
}

// memory is what a group of processes has for itself, in bytes; of what they share, each has its part.
func memory(group int) (all int, err error) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, p := range processes {
		stat, err := os.ReadFile(p + "/stat")
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid pgrp ...
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 3 || fields[2] != strconv.Itoa(group) {
			continue
		}
		maps, err := os.ReadFile(p + "/smaps_rollup")
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(maps)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				kb, err := strconv.Atoi(strings.Fields(rest)[0])
				if err != nil {
					return 0, err
				}
				all += kb << 10
			}
		}
	}
	if all == 0 {
		return 0, fmt.Errorf("no process of the group %d has memory", group)
	}
	return all, nil
}

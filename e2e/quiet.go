//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	quietShare = 0.35 // of the machine's time
	quietFor   = time.Second
	quietMost  = 20 * time.Second
)

// quiet waits until the machine has little to do: a browser that has just started keeps it busy for seconds, and what is
// to be measured is the path. It does not wait for ever: on a machine that is never quiet the figure says so.
func quiet(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, quietMost)
	defer stop()
	tick := time.NewTicker(quietFor)
	defer tick.Stop()
	busy, all, err := processorTime()
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		busyBefore, allBefore := busy, all
		if busy, all, err = processorTime(); err == nil && busy-busyBefore < quietShare*(all-allBefore) {
			return nil
		}
	}
	return err
}

// processorTime is what all processors together did since the start, in ticks: time at work, and time in all.
func processorTime() (busy, all float64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var user, nice, system, idle, wait, irq, soft, steal float64
	if _, err := fmt.Sscanf(line, "cpu %f %f %f %f %f %f %f %f", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal); err != nil {
		return 0, 0, fmt.Errorf("/proc/stat: %w", err)
	}
	busy = user + nice + system + irq + soft + steal
	return busy, busy + idle + wait, nil
}

// load is the mean number of processes of the last minute that wanted a processor; 0 where the system does not say.
func load() (mean float64) {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Sscan(string(text), &mean)
	}
	return mean
}

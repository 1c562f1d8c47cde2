//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc (man 5 proc, USER_HZ).
const tick = 10 * time.Millisecond

// cpuTimes are what processes have used so far, by their numbers.
type cpuTimes map[int]time.Duration

// since is what they have used since before. What has ended in between is not in it: its last use is not known, and the
// processes of a tab that was closed end some time later.
func (c cpuTimes) since(before cpuTimes) time.Duration {
	var sum time.Duration
	for id, used := range c {
		sum += used - before[id]
	}
	return sum
}

// cpuOf looks at some processes and all that they started.
func cpuOf(roots ...int) (cpuTimes, error) {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	type process struct {
		parent int
		used   time.Duration
	}
	all := map[int]process{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return nil, err
		}
		// The command's name, in brackets, may hold anything. After it: state, parent, ..., utime (14) and stime (15).
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 13 {
			return nil, fmt.Errorf("%s: %d fields", name, len(fields))
		}
		var numbers [3]int
		for i, field := range []int{1, 11, 12} {
			if numbers[i], err = strconv.Atoi(fields[field]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		all[id] = process{numbers[0], time.Duration(numbers[1]+numbers[2]) * tick}
	}
	wanted := map[int]bool{}
	for _, root := range roots {
		wanted[root] = true
	}
	times := cpuTimes{}
	for id, p := range all {
		for at := id; at != 0; at = all[at].parent {
			if wanted[at] {
				times[id] = p.used
				break
			}
		}
	}
	return times, nil
}

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

// cpuTime is what some processes and all that they started have used so far. Those that ended since are not counted.
func cpuTime(roots ...int) (time.Duration, error) {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
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
			return 0, err
		}
		// The command's name, in brackets, may hold anything. After it: state, parent, ..., utime (14) and stime (15).
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 13 {
			return 0, fmt.Errorf("%s: %d fields", name, len(fields))
		}
		var numbers [3]int
		for i, field := range []int{1, 11, 12} {
			if numbers[i], err = strconv.Atoi(fields[field]); err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
		}
		all[id] = process{numbers[0], time.Duration(numbers[1]+numbers[2]) * tick}
	}
	wanted := map[int]bool{}
	for _, root := range roots {
		wanted[root] = true
	}
	var sum time.Duration
	for id, p := range all {
		for at := id; at != 0; at = all[at].parent {
			if wanted[at] {
				sum += p.used
				break
			}
		}
	}
	return sum, nil
}

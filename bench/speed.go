//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sizes of the messages that rates are measured with, in bytes.
var sizes = []int{200, 1024, 16_384}

// used is the CPU time of ends and server so far; usage is that of a stretch.
type used struct{ ends, server cpuTimes }
type usage struct{ ends, server time.Duration }

func (u used) since(before used) usage {
	return usage{u.ends.since(before.ends), u.server.since(before.server)}
}

// per is us of CPU time for each of so many.
func (u usage) per(count int) float64 {
	return float64((u.ends + u.server).Nanoseconds()) / 1000 / float64(count)
}

// talking opens a pair, has something done with it, and closes it.
func (b *bench) talking(ctx context.Context, s subject, do func(p *pair) error) (err error) {
	p, err := b.newPair(ctx, s)
	if err != nil {
		return err
	}
	// What the deadline of the part cut short is cleaned up all the same.
	defer func() { err = errors.Join(err, p.close(context.WithoutCancel(ctx))) }()
	if err := p.open(ctx); err != nil {
		return err
	}
	return do(p)
}

// rtt: one message of 64 bytes at a time, there and back.
func (b *bench) rtt(ctx context.Context, s subject) (results []result, err error) {
	err = b.talking(ctx, s, func(p *pair) error {
		before, err := p.cpu()
		if err != nil {
			return err
		}
		warm := max(100, b.settings.trips/20)
		values := map[string]float64{}
		if err := p.a.Call(ctx, "trips", &values, map[string]any{"count": b.settings.trips, "warm": warm, "size": 64}); err != nil {
			return err
		}
		after, err := p.cpu()
		if err != nil {
			return err
		}
		values["cpu"] = after.since(before).per(b.settings.trips + warm)
		results = append(results, result{Values: values})
		return nil
	})
	return results, err
}

// speed: as many messages as go, one way, by size.
func (b *bench) speed(ctx context.Context, s subject) (results []result, err error) {
	err = b.talking(ctx, s, func(p *pair) error {
		if _, err := p.blast(ctx, sizes[0], b.settings.warm); err != nil {
			return err
		}
		for _, size := range sizes {
			r, err := p.blast(ctx, size, b.settings.blast)
			if err != nil {
				return fmt.Errorf("%d B: %w", size, err)
			}
			results = append(results, r)
		}
		return nil
	})
	return results, err
}

func (p *pair) blast(ctx context.Context, size int, length time.Duration) (result, error) {
	if err := p.b.Call(ctx, "expect", nil); err != nil {
		return result{}, err
	}
	begun := time.Now()
	before, err := p.cpu()
	if err != nil {
		return result{}, err
	}
	var sent int
	if err := p.a.Call(ctx, "blast", &sent, map[string]any{"size": size, "ms": length.Milliseconds()}); err != nil {
		return result{}, err
	}
	var got struct {
		Count, Wanted, Disorder, Direct int
		Bytes, Seconds                  float64
	}
	if err := p.b.Call(ctx, "received", &got); err != nil {
		return result{}, err
	}
	after, err := p.cpu()
	if err != nil {
		return result{}, err
	}
	took := time.Since(begun).Seconds()
	if got.Count != sent || got.Wanted != sent || got.Disorder != 0 || got.Bytes != float64(sent*size) {
		return result{}, fmt.Errorf("%d messages sent; the receiver counted %d of %d, %.0f bytes, %d out of order",
			sent, got.Count, got.Wanted, got.Bytes, got.Disorder)
	}
	usage := after.since(before)
	return result{Size: size, Values: map[string]float64{
		"rate":   float64(got.Count-1) / got.Seconds,
		"mbs":    got.Bytes / got.Seconds / 1e6,
		"cpu":    usage.per(sent),
		"ends":   usage.ends.Seconds() / took, // cores
		"server": usage.server.Seconds() / took,
		"count":  float64(sent),
		"direct": float64(got.Direct) / float64(sent),
	}}, nil
}

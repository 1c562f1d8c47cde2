//go:build linux

package main

import (
	"context"
	"time"

	"github.com/hyroute/hyroute/e2e/lan"
)

const (
	firstDomain, secondDomain = "one.example", "two.example"
	secondAddress             = lan.NodeIP + ":8081"
)

// twoDomains: each end is at the node of its own domain, and reaches the other through the node of the other's. Each node
// dies and starts again, while there is no direct path.
func twoDomains(ctx context.Context, st *stage) error {
	p := plan{Count: 10_000, Rate: 330}
	if st.settings.short {
		p = plan{Count: 1500, Rate: 100}
	}
	st.wants = wants{gap: 3 * time.Second}
	if err := st.node.renew(ctx, "--domain", firstDomain); err != nil {
		return err
	}
	st.second = st.newServer(secondAddress, "--domain", secondDomain)
	if err := st.second.start(ctx); err != nil {
		return err
	}
	if err := st.enter(ctx, nil); err != nil {
		return err
	}
	join := func(s *side, domain, address, otherDomain, otherAddress string) error {
		return s.connect(ctx, joining{
			URL: "ws://" + address + "/ws", Domain: domain, Nodes: map[string]string{otherDomain: "ws://" + otherAddress + "/ws"},
			Trace: st.settings.trace,
		})
	}
	if err := both(
		func() error { return join(st.a, firstDomain, nodeAddress, secondDomain, secondAddress) },
		func() error { return join(st.b, secondDomain, secondAddress, firstDomain, nodeAddress) },
	); err != nil {
		return err
	}
	arriving, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if err := st.untilDirect(arriving); err != nil {
		return err
	}
	return st.streams(ctx, p, patience, func(ctx context.Context, passed func(float64) error) error {
		if err := passed(0.2); err != nil {
			return err
		}
		for i, s := range []*server{st.node, st.second, st.node, st.second} {
			// Twice with the direct path, and twice without.
			if i == 2 {
				st.note("UDP vanishes")
				if err := st.network.DropUDP(); err != nil {
					return err
				}
			}
			if err := passed(0.2 + 0.17*float64(i)); err != nil {
				return err
			}
			away, err := s.again(ctx, nodeAway/2)
			if err != nil {
				return err
			}
			st.wants.outages = append(st.wants.outages, away)
		}
		return nil
	})
}

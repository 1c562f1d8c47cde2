//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hyroute/hyroute/e2e/lan"
	"github.com/hyroute/hyroute/scenarios/history"
)

// mostly is the share of the messages that a path that is up behind the traffic is to carry.
const mostly = 0.5

// turnOnly: both ends keep to TURN, and the node's own server is the one they are told of. The direct path goes by it, and
// no packet goes from end to end.
func turnOnly(ctx context.Context, st *stage) error {
	st.wants = wants{gap: 3 * time.Second}
	// The ends are in a private network, and so is the server: its own address is allowed all the same.
	if err := st.node.renew(ctx, "--turn="+lan.NodeIP+":3478"); err != nil {
		return err
	}
	st.turn = true
	a, b := st.network.Ends()[0], st.network.Ends()[1]
	if err := errors.Join(a.DropUDPPast(lan.NodeIP), b.DropUDPPast(lan.NodeIP)); err != nil {
		return err
	}
	before, err := vanished(a, b)
	if err != nil {
		return err
	}
	st.checks = append(st.checks, func(records []history.Record) error {
		after, err := vanished(a, b)
		if after > before {
			err = errors.Join(err, fmt.Errorf("%d packets were on their way from one end to the other, past the TURN server", after-before))
		}
		for receiver, sum := range byReceiver(records) {
			if sum.Share["direct"] < mostly {
				err = errors.Join(err, fmt.Errorf("%s got %.1f %% by the direct path: at least %.0f %% was wanted", receiver, 100*sum.Share["direct"], 100*mostly))
			}
		}
		return err
	})
	return st.bothWays(ctx, func(ctx context.Context, passed func(part float64) error) error {
		if err := passed(0.9); err != nil {
			return err
		}
		for _, s := range st.sides() {
			if _, page := s.end.(*browser); !page {
				continue // shows nothing of the kind; the packets are the proof
			}
			kinds, err := s.candidates(ctx)
			if err != nil {
				return err
			}
			st.note("%s has connections by candidates of these kinds: %v", s.name, kinds)
			if len(kinds) == 0 || slices.ContainsFunc(kinds, func(kind string) bool { return kind != "relay" }) {
				return fmt.Errorf("%s has connections by candidates of the kinds %v, and not by relay alone", s.name, kinds)
			}
		}
		return nil
	})
}

package p2p

import (
	"testing"

	"github.com/hyroute/hyroute/stubs"
	"github.com/hyroute/hyroute/stubs/stubtest"
)

func TestPeerStubConforms(t *testing.T) {
	stubtest.TestStub(t, func(t *testing.T, sinkA, sinkB func(stubs.Event)) stubtest.Pair {
		a, b := twoSides(t, nil, nil)
		unread, closing := make(chan struct{}), make(chan struct{})
		stubA, stubB := join(t, a, b, sinkA, func(e stubs.Event) {
			if _, ok := e.(stubs.Frame); ok {
				select {
				case <-unread:
					<-closing
				default:
				}
			}
			sinkB(e)
		})
		go func() {
			<-stubB.closing
			close(closing)
		}()
		return stubtest.Pair{
			A: stubA, B: stubB,
			Lose:     stubB.Close,
			Unread:   func() { close(unread) },
			Packages: []string{"hyroute/p2p.", "pion/"},
		}
	})
}

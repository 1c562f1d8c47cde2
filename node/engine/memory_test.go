package engine_test

import (
	"testing"

	"github.com/hyroute/hyroute/node/engine"
	"github.com/hyroute/hyroute/node/engine/enginetest"
)

func TestMemory(t *testing.T) {
	enginetest.Test(t, func(*testing.T) engine.Engine { return engine.NewMemory(enginetest.Limit) })
}

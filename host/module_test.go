package host

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/engine"
	source "github.com/hyroute/hyroute/wasm/module"
)

// cache keeps the compiled module for all tests of one run.
var cache string

func TestMain(m *testing.M) {
	if text := os.Getenv(lifeVariable); text != "" {
		if err := live(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	var err error
	if cache, err = os.MkdirTemp("", "hyroute"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}

var build = sync.OnceValues(func() ([]byte, error) {
	wasm, _, err := source.Build()
	if err != nil {
		return nil, err
	}
	// Compiling takes long under the race detector, and no test waits for it that way.
	key, err := identity.New()
	if err != nil {
		return nil, err
	}
	runtime, err := key.RuntimeURL(testDomain)
	if err != nil {
		return nil, err
	}
	m, _, err := machine.Module(wasm, engine.Config{Runtime: runtime, Wall: 1, Seed: 1}, machine.Options{CacheDir: cache})
	if err != nil {
		return nil, err
	}
	return wasm, m.Close()
})

// module is hyroute.wasm, built once for all tests.
func module(t *testing.T) []byte {
	t.Helper()
	if testing.Short() {
		t.Skip("the module is built and compiled in the long tests only")
	}
	b, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

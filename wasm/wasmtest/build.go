// Package wasmtest builds the module for tests, from the sources as they stand.
package wasmtest

import (
	"strings"
	"sync"
	"testing"

	"github.com/hyroute/hyroute/wasm/module"
)

var (
	mu    sync.Mutex
	built = map[string][]byte{}
)

// Module is hyroute.wasm, built once a process for each set of build tags. The test fails if it does not compile.
func Module(t testing.TB, tags ...string) []byte {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	key := strings.Join(tags, ",")
	if wasm, ok := built[key]; ok {
		return wasm
	}
	wasm, _, err := module.Build(tags...)
	if err != nil {
		t.Fatal(err)
	}
	built[key] = wasm
	return wasm
}

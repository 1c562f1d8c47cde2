// Package wasmtest builds the module for tests, from the sources as they stand.
package wasmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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
	out := filepath.Join(t.TempDir(), "hyroute.wasm")
	command := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-tags="+key, "-o", out,
		"github.com/hyroute/hyroute/wasm")
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("the module does not build: %v\n%s", err, text)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	built[key] = wasm
	return wasm
}

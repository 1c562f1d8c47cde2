// Package module builds hyroute.wasm. It is the one place that knows how.
package module

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hyroute/hyroute/wasm/strip"
)

// small keeps the codecs of the door from being inlined into themselves: 5 KB less to load, in brotli, for a few per cent more time
// at the door.
const small = "github.com/hyroute/hyroute/runtime/wire=-l"

// Build compiles the module from the sources as they stand, with build tags, in a folder of their Go module. larger says why the
// module, though sound, is larger than it could be: nil unless it was linked by a Go whose tables package strip does not
// know. err holds what the compiler said.
func Build(tags ...string) (wasm []byte, larger, err error) {
	linked, err := Link("github.com/hyroute/hyroute/wasm", "-buildmode=c-shared", "-tags="+strings.Join(tags, ","), "-gcflags="+small)
	if err != nil {
		return nil, nil, err
	}
	if wasm, larger = strip.Lines(linked); larger != nil {
		return linked, larger, nil
	}
	return wasm, nil, nil
}

// Link compiles a program for WASI, as Go's linker leaves it.
func Link(program string, flags ...string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "hyroute-module-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	out := filepath.Join(folder, "module.wasm")
	command := exec.Command("go", append(append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", out}, flags...), program)...)
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("module: %s: %w\n%s", program, err, text)
	}
	return os.ReadFile(out)
}

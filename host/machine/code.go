package machine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// abiVersion is the version of wasm/ABI.md that this package speaks.
const abiVersion = 2

// memoryPages is the most memory of one instance: 512 MiB in pages of 64 KiB. The address space is reserved at once, so that
// growing never copies (a copy of 300 MiB stops everything for a second); pages that are not touched cost nothing.
const memoryPages = 8192

// code is a compiled module. It is made once a process for the same bytes, and is safe for concurrent use.
type code struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

type codeKey struct {
	sum      [sha256.Size]byte
	cacheDir string
}

var (
	codesMu sync.Mutex
	codes   = map[codeKey]*code{}
)

// compile compiles the module, or finds it compiled. Compiled code is kept until the process ends: a program has one module,
// perhaps two while it is updated. With a cacheDir the machine code is kept there for the next process as well.
func compile(ctx context.Context, wasm []byte, cacheDir string) (*code, error) {
	key := codeKey{sha256.Sum256(wasm), cacheDir}
	codesMu.Lock()
	defer codesMu.Unlock()
	if c := codes[key]; c != nil {
		return c, nil
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages).WithMemoryCapacityFromMax(true)
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, fmt.Errorf("machine: cache folder for compiled code: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return nil, fmt.Errorf("machine: WASI: %w", err)
	}
	compiled, err := runtime.CompileModule(ctx, wasm)
	if err != nil {
		runtime.Close(ctx)
		return nil, fmt.Errorf("machine: compile the module: %w", err)
	}
	c := &code{runtime: runtime, compiled: compiled}
	codes[key] = c
	return c, nil
}

// instanceConfig is how every instance runs. The clock only keeps Go's runtime content (it aborts at a clock of 0), and
// randomness only seeds its hash tables: neither reaches the machine.
func instanceConfig(stderr *tail) wazero.ModuleConfig {
	return wazero.NewModuleConfig().
		WithName("").
		WithStartFunctions("_initialize").
		WithSysNanotime().
		WithSysWalltime().
		WithRandSource(rand.Reader).
		WithEnv("GOMEMLIMIT", "256MiB").
		WithStderr(stderr)
}

// tail keeps the end of what the module writes on its way down: Go's runtime says there why.
type tail struct{ text []byte }

const tailSize = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if len(t.text) > 2*tailSize {
		t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
	}
	return len(b), nil
}

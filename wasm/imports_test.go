package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/hyroute/hyroute/wasm/door"
	"github.com/hyroute/hyroute/wasm/wasmtest"
)

// imports is all that the module needs of its host, and all of it for Go's own runtime. A body at the edge has no more
// than this, so one more is a break of the contract.
var imports = []string{
	"args_get", "args_sizes_get", "clock_time_get", "environ_get", "environ_sizes_get",
	"fd_write", "poll_oneoff", "proc_exit", "random_get", "sched_yield",
}

// exports are those of ABI.md, with how many numbers they take and give.
var exports = map[string][2]int{
	"_initialize": {0, 0},
	"abi_version": {0, 1},
	"reserve":     {1, 0},
	"input":       {1, 1},
	"open":        {1, 1},
	"step":        {1, 1},
	"step_packed": {1, 1},
	"snapshot":    {0, 1},
	"restore":     {1, 1},
	"output":      {0, 1},
}

func TestImportsAndExportsAreExactlyTheContract(t *testing.T) {
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(ctx)
	compiled, err := runtime.CompileModule(ctx, wasmtest.Module(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if module != "wasi_snapshot_preview1" {
			t.Errorf("imports %s.%s", module, name)
		}
		got = append(got, name)
	}
	slices.Sort(got)
	if !slices.Equal(got, imports) {
		t.Errorf("imports\n%v, not\n%v", got, imports)
	}
	if n := len(compiled.ImportedMemories()); n != 0 {
		t.Errorf("imports %d memories", n)
	}
	functions := compiled.ExportedFunctions()
	for name, f := range functions {
		want, ok := exports[name]
		if !ok {
			t.Errorf("exports %s, which ABI.md does not know", name)
			continue
		}
		if have := [2]int{len(f.ParamTypes()), len(f.ResultTypes())}; have != want {
			t.Errorf("%s takes and gives %v, not %v", name, have, want)
		}
		for _, v := range append(f.ParamTypes(), f.ResultTypes()...) {
			if v != 0x7f {
				t.Errorf("%s has the type 0x%x, not i32", name, v)
			}
		}
	}
	if len(functions) != len(exports) {
		t.Errorf("%d exports, not %d", len(functions), len(exports))
	}
	if memories := compiled.ExportedMemories(); len(memories) != 1 || memories["memory"] == nil {
		t.Errorf("exports %d memories, not one named memory", len(memories))
	}
}

// TestPageSaysWhatIsExported: ABI.md is the contract, so its tables are what is checked.
func TestPageSaysWhatIsExported(t *testing.T) {
	page, err := os.ReadFile("ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Exports\n")
	table, _, _ = strings.Cut(table, "\n## ")
	named := map[string]bool{"_initialize": true}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)\\(").FindAllStringSubmatch(table, -1) {
		named[m[1]] = true
	}
	for name := range exports {
		if !named[name] {
			t.Errorf("ABI.md does not have %s", name)
		}
	}
	if len(named) != len(exports) {
		t.Errorf("ABI.md has %d exports, the module %d", len(named), len(exports))
	}
}

// forbidden are packages that the module may not link, each with its reason. Sizes are what one costs in brotli.
var forbidden = map[string]string{
	"time":          "45 KB, and a clock: time is input; it also adds WASI imports that an edge host lacks",
	"os":            "I/O is input",
	"fmt":           "144 KB",
	"encoding/json": "261 KB",
	"net/url":       "184 KB",
	"log":           "fmt, and a global",
	"math/rand":     "randomness is input",
	"math/rand/v2":  "randomness is input",
	"context":       "79 KB, and a clock",
	"encoding/hex":  "70 KB: it brings fmt",
	"regexp":        "128 KB",
	"crypto/sha256": "110 KB",
}

func TestNothingHeavyIsLinked(t *testing.T) {
	command := exec.Command("go", "list", "-deps", ".")
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if why, ok := forbidden[dep]; ok {
			t.Errorf("the module links %s: %s", dep, why)
		}
	}
}

func TestVersionIsThatOfThePage(t *testing.T) {
	page, err := os.ReadFile("ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("`abi_version\\(\\) -> v` \\| (\\d+)\\.").FindSubmatch(page)
	if m == nil || string(m[1]) != string(rune('0'+door.Version)) {
		t.Errorf("ABI.md says %q, the module %d", m, door.Version)
	}
}

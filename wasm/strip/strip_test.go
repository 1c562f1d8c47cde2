package strip_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/hyroute/hyroute/wasm/module"
	"github.com/hyroute/hyroute/wasm/strip"
	"github.com/hyroute/hyroute/wasm/wasmtest"
)

// program needs all that must survive: stacks that grow and hold pointers while garbage is collected, a recovered panic, the
// name of the own caller, and in the end a traceback. Its output is compared with that of the program as it was linked.
const program = `package main

import "runtime"

type tree struct{ left, right *tree }

func grow(depth int) *tree {
	var space [64]byte // so that the stack has to move
	space[depth] = byte(depth)
	if depth == 0 {
		runtime.GC()
		return &tree{}
	}
	t := &tree{grow(depth - 1), grow(depth - 1)}
	if space[depth] != byte(depth) {
		panic("the stack is spoilt")
	}
	return t
}

func (t *tree) count() int {
	if t == nil {
		return 0
	}
	return 1 + t.left.count() + t.right.count()
}

//go:noinline
func divide(a, b int) (quotient int, why string) {
	defer func() {
		if r := recover(); r != nil {
			why = r.(error).Error()
		}
	}()
	return a / b, ""
}

//go:noinline
func fall(list []int, i int) int { return list[i] }

func main() {
	println(grow(9).count())
	done := make(chan int)
	go func() { done <- grow(5).count() }()
	println(<-done)
	_, why := divide(1, 0)
	println(why)
	pc, _, _, _ := runtime.Caller(0)
	println(runtime.FuncForPC(pc).Name())
	println(fall(nil, 7))
}
`

func TestWhatItComputesStaysTheSame(t *testing.T) {
	linked := link(t, program)
	stripped, err := strip.Lines(linked)
	if err != nil {
		t.Fatal(err)
	}
	before, after := run(t, linked), run(t, stripped)
	t.Logf("%d bytes, then %d\n%s", len(linked), len(stripped), after)
	lines := regexp.MustCompile(`\S+\.go:\d+`)
	if !lines.MatchString(before) {
		t.Fatalf("no lines in the program as it was linked:\n%s", before)
	}
	if got, want := after, lines.ReplaceAllString(before, "?:0"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(after, "main.fall(") {
		t.Error("the traceback does not name the function")
	}
}

// link compiles a program for WASI.
func link(t *testing.T, source string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	wasm, err := module.Link(file)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// run gives what a program writes to its standard error.
func run(t *testing.T, wasm []byte) string {
	t.Helper()
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	var out bytes.Buffer
	_, err := runtime.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithStderr(&out))
	if err == nil || !strings.Contains(err.Error(), "exit_code(2)") {
		t.Fatalf("the program ended with %v\n%s", err, out.String())
	}
	return out.String()
}

// The module that pages load has none: a Go whose tables have another layout is told of here, and not by a page that is slow to load.
func TestTheModuleHasNoLines(t *testing.T) {
	if lines := regexp.MustCompile(`runtime/\w+/\w+\.go\x00`).Find(wasmtest.Module(t)); lines != nil {
		t.Errorf("the module names the file %q", lines)
	}
}

func TestWhatIsNoModuleIsRefused(t *testing.T) {
	head := "\x00asm\x01\x00\x00\x00"
	data := func(body string) string { return head + "\x0b" + string(rune(len(body))) + body }
	table := strings.Repeat("\x00", 7) + "\x01\xf1\xff\xff\xff\x00\x00\x01\x08" + strings.Repeat("\x00", 8)
	tests := []struct{ name, module, want string }{
		{"nothing", "", "strip: not a module, or one with passive data"},
		{"text", "hello, world", "strip: not a module, or one with passive data"},
		{"no section", head, "strip: the module has no data"},
		{"a section that is cut off", head + "\x0b\x05\x00", "strip: not a module, or one with passive data"},
		{"a passive segment", data("\x01\x01\x01x"), "strip: not a module, or one with passive data"},
		{"more segments than there are", data("\x02\x00\x41\x00\x0b\x01x"), "strip: not a module, or one with passive data"},
		{"a segment below 0", data("\x01\x00\x41\x7f\x0b\x01x"), "strip: not a module, or one with passive data"},
		{"a segment far out", data("\x01\x00\x41\xff\xff\xff\xff\x07\x0b\x01x"), "strip: not a module, or one with passive data"},
		{"other data", data("\x01\x00\x41\x08\x0b\x01x"), "strip: no table of functions, or not one of Go 1.26"},
		{"a table without functions", data("\x01\x00\x41\x00\x0b" + string(rune(len(table))) + table), "strip: no table of functions, or not one of Go 1.26"},
	}
	for _, test := range tests {
		if out, err := strip.Lines([]byte(test.module)); out != nil || err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

// What is stripped comes from a linker, but what is wrong in it must be told and not be a panic. The seed is a table of two
// functions with their values, small enough for the fuzzer to find its way.
func FuzzLines(f *testing.F) {
	f.Add([]byte("\x00asm\x01\x00\x00\x00"))
	f.Add(smallModule())
	f.Fuzz(func(t *testing.T, module []byte) {
		once, err := strip.Lines(module)
		if err != nil {
			return
		}
		// Zeros at its end may be gone, and with them what makes it a table; a module it is all the same.
		if _, err := strip.Lines(once); err != nil && strings.Contains(err.Error(), "not a module") {
			t.Errorf("what it gave is no module: %x", once)
		}
	})
}

// smallModule has nothing but a table of two functions as data.
func smallModule() []byte {
	const functions = 2*8 + 8
	words := []uint64{2, 1, 0, 72, 80, 88, 96, 112}
	table := []byte("\xf1\xff\xff\xff\x00\x00\x01\x08")
	for _, w := range words {
		table = binary.LittleEndian.AppendUint64(table, w)
	}
	table = append(table, "\x00a\x00b\x00\x00\x00\x00"...)                   // names
	table = append(table, "\x00\x00\x00\x00\x00\x00\x00\x00"...)             // units
	table = append(table, "a.go\x00\x00\x00\x00"...)                         // files
	table = append(table, "\x00\x02\x04\x00\x06\x04\x00\x08\x04\x00\x00"...) // values at 1, 4 and 7
	table = append(table, make([]byte, 112-len(table))...)
	for i := range uint32(3) {
		table = binary.LittleEndian.AppendUint32(table, i)
		table = binary.LittleEndian.AppendUint32(table, functions+48*i)
	}
	for i := range uint32(2) {
		for _, v := range []uint32{i, 1 + 2*i, 0, 0, 1, 4, 7, 1, 0, 9, 0, 1} {
			table = binary.LittleEndian.AppendUint32(table, v)
		}
	}
	body := binary.AppendUvarint([]byte("\x01\x00\x41\x08\x0b"), uint64(len(table)))
	body = append(body, table...)
	out := binary.AppendUvarint([]byte("\x00asm\x01\x00\x00\x00\x0b"), uint64(len(body)))
	return append(out, body...)
}

func TestLinesOfASmallModuleGo(t *testing.T) {
	whole := smallModule()
	out, err := strip.Lines(whole)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(whole, []byte("a.go")) || bytes.Contains(out, []byte("a.go")) {
		t.Error("the name of the file is still there, or never was")
	}
	if !bytes.Contains(out, []byte("a\x00b")) {
		t.Error("the names of the functions are gone")
	}
}

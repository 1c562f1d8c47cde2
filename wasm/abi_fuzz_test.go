package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/hyroute/hyroute/runtime/wire"
	"github.com/hyroute/hyroute/wasm/door"
	"github.com/hyroute/hyroute/wasm/wasmtest"
)

// records cuts the input of FuzzABI up: calls between zero bytes, the first byte of each saying what to call.
//
//	o open   s step   r restore: the rest is the input
//	p snapshot        q restore of the last snapshot
//	k step_packed: the bytes of the rest are hex, for a packed frame may hold zero bytes
//	l step whose length is a lie: the first four bytes of the rest
func records(in []byte) [][]byte { return bytes.Split(in, []byte{0}) }

// loaded is the module in a runtime of its own, to make instances of.
type loaded struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

func load(t testing.TB) *loaded {
	ctx := context.Background()
	l := &loaded{runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(8192))}
	t.Cleanup(func() { l.runtime.Close(ctx) })
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, l.runtime); err != nil {
		t.Fatal(err)
	}
	var err error
	if l.compiled, err = l.runtime.CompileModule(ctx, wasmtest.Module(t)); err != nil {
		t.Fatal(err)
	}
	return l
}

// exported is a running module.
type exported struct {
	t      testing.TB
	module api.Module
}

func (l *loaded) start(t testing.TB) *exported {
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithSysNanotime().WithStderr(os.Stderr)
	module, err := l.runtime.InstantiateModule(context.Background(), l.compiled, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { module.Close(context.Background()) })
	return &exported{t: t, module: module}
}

func (e *exported) number(name string, arguments ...uint64) int32 {
	e.t.Helper()
	results, err := e.module.ExportedFunction(name).Call(context.Background(), arguments...)
	if err != nil {
		e.t.Fatalf("%s trapped: %v", name, err)
	}
	if len(results) == 0 {
		return 0
	}
	return api.DecodeI32(results[0])
}

// call gives in to the module, calls name with a length, and reads the output.
func (e *exported) call(name string, in []byte, length int32) (int32, []byte) {
	e.t.Helper()
	at := e.number("input", api.EncodeI32(int32(len(in))))
	if at == 0 || !e.module.Memory().Write(uint32(at), in) {
		e.t.Fatalf("no input buffer for %d bytes", len(in))
	}
	var arguments []uint64
	if name != "snapshot" {
		arguments = []uint64{api.EncodeI32(length)}
	}
	n := e.number(name, arguments...)
	out, ok := e.module.Memory().Read(uint32(e.number("output")), uint32(max(n, -n)))
	if !ok {
		e.t.Fatalf("%s: an output of %d bytes outside of the memory", name, n)
	}
	return n, bytes.Clone(out)
}

// native does the same in this program.
func native(p *door.Port, name string, in []byte, length int32) (int32, []byte) {
	copy(p.Input(int32(len(in))), in)
	var n int32
	switch name {
	case "open":
		n = p.Open(length)
	case "step":
		n = p.Step(length)
	case "step_packed":
		n = p.StepPacked(length)
	case "restore":
		n = p.Restore(length)
	case "snapshot":
		n = p.Snapshot()
	}
	return n, bytes.Clone(p.Output()[:max(n, -n)])
}

func playRecords(t *testing.T, l *loaded, in []byte) {
	running, port := l.start(t), &door.Port{}
	var snapshot []byte
	for _, record := range records(in) {
		if len(record) == 0 {
			continue
		}
		name, data := "step", record[1:]
		length := int32(len(data))
		switch record[0] {
		case 'o':
			name = "open"
		case 'r':
			name = "restore"
		case 'p':
			name = "snapshot"
		case 'q':
			name, data, length = "restore", snapshot, int32(len(snapshot))
		case 'k':
			name = "step_packed"
			data, _ = hex.DecodeString(string(data))
			length = int32(len(data))
		case 'l':
			if len(data) >= 4 {
				length = int32(binary.LittleEndian.Uint32(data))
			}
		}
		n, out := running.call(name, data, length)
		wantN, wantOut := native(port, name, data, length)
		if n != wantN || !bytes.Equal(out, wantOut) {
			t.Fatalf("%s of %q: the module gives %d %q, the native door %d %q", name, data, n, out, wantN, wantOut)
		}
		if name == "snapshot" && n >= 0 {
			snapshot = out
		}
	}
}

// FuzzABI gives any bytes to module and native door: equal answers, and never a trap.
func FuzzABI(f *testing.F) {
	l := load(f)
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) { playRecords(t, l, in) })
}

const opened = "oopen runtime=runtime://a.example/r1 wall=1700000000000 seed=0123456789abcdef direct=1\n\x00"

// seeds are the vectors of the codec, and the scenarios.
func seeds(t testing.TB) [][]byte {
	all := [][]byte{
		nil,
		[]byte("sat now=1\n"),
		[]byte("p\x00q\x00rnothing\x00o\x00s\x00l\xff\xff\xff\xff\x00l\x01\x01\x00"),
		[]byte(opened + "p\x00q\x00sat now=1\ntime-passed\n\x00p\x00q\x00p"),
		[]byte(opened + opened + "l\xff\xff\xff\x7f"),
	}
	vectors, err := os.ReadFile("../runtime/wire/testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	life := opened
	for i, row := range strings.Split(string(vectors), "\n") {
		if line, ok := strings.CutPrefix(row, "event ok "); ok {
			all = append(all, []byte(opened+"sat now="+string(rune('1'+i%9))+"\n"+line+"\n"))
			life += "sat now=5\n" + line + "\n\x00"
		}
	}
	all = append(all, []byte(life+"p\x00q\x00p"))
	err = filepath.WalkDir("../scenarios/corpus", func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".txt" {
			return err
		}
		text, err := os.ReadFile(name)
		all = append(all, scenario(string(text)), packedScenario(t, string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// scenario makes records of the inputs of a scenario file.
func scenario(text string) []byte {
	var out []byte
	for _, block := range strings.Split(text, "\n\n") {
		var in string
		for _, line := range strings.SplitAfter(block+"\n", "\n") {
			if strings.HasPrefix(line, "----") {
				break
			}
			if !strings.HasPrefix(line, "#") && line != "\n" {
				in += line
			}
		}
		switch {
		case in == "save\n":
			out = append(out, "p\x00"...)
		case in == "restore\n":
			out = append(out, "q\x00"...)
		case strings.HasPrefix(in, "open"):
			out = append(out, "o"+in+"\x00"...)
		case in != "":
			out = append(out, "s"+in+"\x00"...)
		}
	}
	return append(out, "p\x00q\x00p"...)
}

// packedScenario is the same through the packed door, with a snapshot and new handles half-way.
func packedScenario(t testing.TB, text string) []byte {
	var d wire.Decoder
	var p wire.Packer
	var out []byte
	all := records(scenario(text))
	for i, record := range all {
		if len(record) == 0 || record[0] != 's' {
			if len(record) > 0 && record[0] == 'q' {
				p.Forget()
			}
			out = append(append(out, record...), 0)
			continue
		}
		now, events, err := d.Frame(record[1:])
		if err != nil {
			t.Fatalf("%s: %v", record, err)
		}
		if i == len(all)/2 {
			out = append(out, "p\x00q\x00"...)
		}
		packed := p.AppendFrame(nil, i == len(all)/2, now, events...)
		out = append(hex.AppendEncode(append(out, 'k'), packed), 0)
	}
	return out
}

func TestLengthsAtTheBorder(t *testing.T) {
	l := load(t)
	running := l.start(t)
	for _, size := range []int32{-1, -1 << 31, door.MaxInput + 1, 1<<31 - 1} {
		if at := running.number("input", api.EncodeI32(size)); at != 0 {
			t.Errorf("input(%d) gave a buffer at %d", size, at)
		}
	}
	for _, length := range []int32{-1, -1 << 31, 1 << 30, 1<<31 - 1} {
		for _, name := range []string{"open", "step", "step_packed", "restore"} {
			if n, out := running.call(name, []byte("x"), length); n >= 0 || !strings.Contains(string(out), "length") {
				t.Errorf("%s(%d) gave %d %q", name, length, n, out)
			}
		}
	}
	before := running.module.Memory().Size()
	running.number("reserve", 32)
	if grown := running.module.Memory().Size() - before; grown < 32<<20 {
		t.Errorf("reserve(32) let the memory grow by %d bytes", grown)
	}
	for _, mib := range []int32{0, -5} {
		running.number("reserve", api.EncodeI32(mib))
	}
	// The largest input fits, and its buffer does not stay.
	if at := running.number("input", door.MaxInput); at == 0 {
		t.Error("no buffer of the largest size")
	}
	if n, out := running.call("step", []byte("at now=1\n"), 9); n >= 0 || !strings.Contains(string(out), "no machine") {
		t.Errorf("a step before open gave %d %q", n, out)
	}
	running.number("reserve", 1<<20)
}

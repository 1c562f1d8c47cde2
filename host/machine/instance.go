package machine

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// instance is one running module: the exports of wasm/ABI.md as functions. After a trap it still answers, with nonsense, so
// whoever gets a *trapped must drop it.
type instance struct {
	ctx    context.Context
	module api.Module
	memory api.Memory
	stderr *tail
	stack  []uint64 // parameter and result of the calls

	input, output, open, step, snapshot, restore api.Function
}

// trapped says that a call ended in a trap. text is what the module wrote before.
type trapped struct {
	call string
	text string
	err  error
}

func (t *trapped) Error() string { return "machine: " + t.call + " trapped: " + t.err.Error() }

func (t *trapped) Unwrap() error { return t.err }

// refused is why the module refused a call. Nothing was changed.
type refused struct{ why string }

func (r *refused) Error() string { return "machine: the module refused: " + r.why }

func start(ctx context.Context, c *code) (*instance, error) {
	stderr := &tail{}
	module, err := c.runtime.InstantiateModule(ctx, c.compiled, instanceConfig(stderr))
	if err != nil {
		return nil, fmt.Errorf("machine: start the module: %w %s", err, stderr.text)
	}
	in := &instance{ctx: ctx, module: module, memory: module.Memory(), stderr: stderr, stack: make([]uint64, 1)}
	var version api.Function
	for _, export := range []struct {
		name     string
		function *api.Function
	}{
		{"abi_version", &version}, {"input", &in.input}, {"output", &in.output}, {"open", &in.open}, {"step_packed", &in.step},
		{"snapshot", &in.snapshot}, {"restore", &in.restore},
	} {
		if *export.function = module.ExportedFunction(export.name); *export.function == nil {
			in.close()
			return nil, fmt.Errorf("machine: the module does not export %s", export.name)
		}
	}
	if in.memory == nil {
		in.close()
		return nil, errors.New("machine: the module does not export its memory")
	}
	v, err := in.number("abi_version", version, 0)
	if err != nil {
		in.close()
		return nil, err
	}
	if v != abiVersion {
		in.close()
		return nil, fmt.Errorf("machine: the module speaks version %d of the ABI, not %d", v, abiVersion)
	}
	return in, nil
}

func (in *instance) close() { in.module.Close(in.ctx) }

// number calls a function of at most one parameter and one result.
func (in *instance) number(name string, f api.Function, argument int) (int32, error) {
	in.stack[0] = api.EncodeI32(int32(argument))
	if err := f.CallWithStack(in.ctx, in.stack); err != nil {
		return 0, &trapped{call: name, text: string(in.stderr.text), err: err}
	}
	return api.DecodeI32(in.stack[0]), nil
}

// call puts b into the input, calls f, and gives the output, which is the module's memory: it is gone with the next call.
func (in *instance) call(name string, f api.Function, b []byte) ([]byte, error) {
	at, err := in.number("input", in.input, len(b))
	if err != nil {
		return nil, err
	}
	if at == 0 || !in.memory.Write(uint32(at), b) {
		return nil, &refused{fmt.Sprintf("an input of %d bytes", len(b))}
	}
	n, err := in.number(name, f, len(b))
	if err != nil {
		return nil, err
	}
	at, err = in.number("output", in.output, 0)
	if err != nil {
		return nil, err
	}
	size := n
	if n < 0 {
		size = -n
	}
	output, ok := in.memory.Read(uint32(at), uint32(size))
	if !ok {
		return nil, &trapped{call: name, err: fmt.Errorf("an output of %d bytes at %d is outside of the memory", size, at)}
	}
	if n < 0 {
		return nil, &refused{string(output)}
	}
	return output, nil
}

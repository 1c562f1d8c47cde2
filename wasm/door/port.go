package door

// MaxInput is the largest input taken, in bytes: far above what the bounded tables can make a snapshot of.
const MaxInput = 64 << 20

// MaxReserve is the most that Reserve takes, in MiB: within the memory that every body grants.
const MaxReserve = 256

// Port is a Door with the two buffers that a body shares with it, and the numbers that cross the border: what the exports
// of the same names do. A WebAssembly instance has one thread, so it needs no lock. The zero value is ready.
type Port struct {
	door   Door
	input  []byte
	output []byte
}

// Input is a buffer of at least size bytes, nil if size is below 0 or above MaxInput.
func (p *Port) Input(size int32) []byte {
	if size < 0 || size > MaxInput {
		return nil
	}
	// A large input is rare (a snapshot), and its buffer must not stay for ever.
	if p.input == nil || cap(p.input) < int(size) || cap(p.input) > 1<<20 && size <= 1<<16 {
		p.input = make([]byte, max(int(size), 1<<16))
	}
	return p.input
}

// Reserve lets the memory grow once, now, instead of bit by bit in mid traffic: what is allocated here and let go is where
// the machine's tables go later. mib counts up to MaxReserve. The last input is lost.
func (p *Port) Reserve(mib int32) {
	p.input = make([]byte, int(min(max(mib, 0), MaxReserve))<<20)
	p.input = nil
}

// Output is what the last call gave: the answer, or why it was refused.
func (p *Port) Output() []byte { return p.output }

// Open is Door.Open on the first size bytes of the input. It gives the length of the output, below 0 for a refusal.
func (p *Port) Open(size int32) int32 {
	if !p.holds(size) {
		return p.outside()
	}
	return p.give(p.door.Open(p.input[:size]))
}

// Step is Door.Step on the first size bytes of the input. It gives the length of the output, below 0 for a refusal.
func (p *Port) Step(size int32) int32 {
	if !p.holds(size) {
		return p.outside()
	}
	return p.give(p.door.Step(p.input[:size]))
}

// StepPacked is Door.StepPacked on the first size bytes of the input. It gives the length of the output, below 0 for a refusal.
func (p *Port) StepPacked(size int32) int32 {
	if !p.holds(size) {
		return p.outside()
	}
	return p.give(p.door.StepPacked(p.input[:size]))
}

// Snapshot is Door.Snapshot. It gives the length of the output, below 0 for a refusal.
func (p *Port) Snapshot() int32 { return p.give(p.door.Snapshot()) }

// Restore is Door.Restore on the first size bytes of the input. It gives 0, or a number below 0 for a refusal.
func (p *Port) Restore(size int32) int32 {
	if !p.holds(size) {
		return p.outside()
	}
	return p.give(nil, p.door.Restore(p.input[:size]))
}

func (p *Port) holds(size int32) bool { return size >= 0 && int(size) <= len(p.input) }

//go:noinline
func (p *Port) outside() int32 { return p.refuse("door: the length is outside of the input buffer") }

// give stands in every export.
//
//go:noinline
func (p *Port) give(output []byte, err error) int32 {
	if err != nil {
		return p.refuse(err.Error())
	}
	p.output = output
	return int32(len(output))
}

func (p *Port) refuse(why string) int32 {
	p.output = []byte(why)
	return -int32(len(why))
}

// Package strip takes out of a module what Go's linker puts into it for tracebacks alone: which line of which file an
// instruction came from. There is no flag for that (-s and -w drop symbols and DWARF only), and in brotli it is 12 % of
// hyroute.wasm. A traceback still names its functions and tells the offsets in them, from which a build with the tables
// tells the lines.
package strip

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Lines gives module without its tables of lines. What it computes stays the same. The module has to be made by a Go linker
// whose tables are laid out as those of Go 1.26: every function's entry is checked before anything is changed, and an error
// says what is not as it should be.
func Lines(module []byte) ([]byte, error) {
	m, err := read(module)
	if err != nil {
		return nil, fmt.Errorf("strip: %w", err)
	}
	t, err := find(m.image)
	if err != nil {
		return nil, fmt.Errorf("strip: %w", err)
	}
	if err := t.dropLines(); err != nil {
		return nil, fmt.Errorf("strip: %w", err)
	}
	return m.bytes(), nil
}

// table is the linker's table of functions (type moduledata and type _func in package runtime).
type table struct {
	names     []byte
	units     []byte // for each compilation unit and file of it, where the file's name is
	files     []byte
	values    []byte // tables of values by program counter: run lengths
	functions []byte // pairs (entry, offset of the description), and the descriptions
	count     int
}

// magic is how the table begins: its version, the size of an instruction, that of a pointer.
const magic = "\xf1\xff\xff\xff\x00\x00\x01\x08"

const (
	headSize        = 72
	descriptionSize = 44
)

// Offsets in a description.
const (
	entryAt     = 0
	nameAt      = 4
	stackAt     = 16 // values: size of the frame
	fileAt      = 20 // values: file
	lineAt      = 24 // values: line
	countAt     = 28 // how many further offsets of values follow the description
	unitAt      = 32
	startLineAt = 36
)

func find(image []byte) (*table, error) {
	var found *table
	for at := 0; at+headSize <= len(image); at += 8 {
		if string(image[at:at+len(magic)]) != magic {
			continue
		}
		if t := parse(image[at:]); t != nil {
			if found != nil {
				return nil, errors.New("two tables of functions")
			}
			found = t
		}
	}
	if found == nil {
		return nil, errors.New("no table of functions, or not one of Go 1.26")
	}
	return found, nil
}

// parse takes a table apart; nil: it is none.
func parse(b []byte) *table {
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	count := word(8)
	last := uint64(headSize)
	for at := 32; at < headSize; at += 8 {
		if word(at) < last || word(at) > uint64(len(b)) {
			return nil
		}
		last = word(at)
	}
	if count == 0 || count > (uint64(len(b))-last)/(8+descriptionSize) {
		return nil
	}
	return &table{
		names: b[word(32):word(40)], units: b[word(40):word(48)], files: b[word(48):word(56)], values: b[word(56):word(64)],
		functions: b[word(64):], count: int(count),
	}
}

// dropLines makes all functions have no lines, and moves the tables of values that are left together.
func (t *table) dropLines() error {
	values := []byte{0} // an offset of 0: there is no such table
	moved := map[uint32]uint32{0: 0}
	all := make([][]byte, t.count)
	for i := range all {
		d, err := t.description(i)
		if err != nil {
			return fmt.Errorf("function %d of %d: %w", i, t.count, err)
		}
		all[i] = d
		for _, at := range offsets(d) {
			old := get(d, at)
			if _, ok := moved[old]; !ok && at != fileAt && at != lineAt {
				size, _ := t.size(old)
				moved[old] = uint32(len(values))
				values = append(values, t.values[old:][:size]...)
			}
		}
	}
	if len(values) > len(t.values) {
		return errors.New("tables of values overlap")
	}
	for _, d := range all {
		for _, at := range []int{fileAt, lineAt, unitAt, startLineAt} {
			put(d, at, 0)
		}
		for _, at := range offsets(d) {
			put(d, at, moved[get(d, at)])
		}
	}
	clear(t.values[copy(t.values, values):])
	clear(t.units)
	clear(t.files)
	return nil
}

// offsets is where in a description stands where a table of values begins.
func offsets(description []byte) []int {
	all := []int{stackAt, fileAt, lineAt}
	for at := descriptionSize; at < len(description); at += 4 {
		all = append(all, at)
	}
	return all
}

// description is what the table says of function i, with the offsets of values that follow it. It is checked in all that tells
// whether the layout is the one that is known here.
func (t *table) description(i int) ([]byte, error) {
	entry, offset := get(t.functions, 8*i), get(t.functions, 8*i+4)
	if uint64(offset)+descriptionSize > uint64(len(t.functions)) {
		return nil, errors.New("its description is outside of the table")
	}
	d := t.functions[offset:]
	if get(d, entryAt) != entry || get(t.functions, 8*i+8) < entry {
		return nil, errors.New("its entries differ")
	}
	name := get(d, nameAt)
	if uint64(name) >= uint64(len(t.names)) || name > 0 && t.names[name-1] != 0 {
		return nil, errors.New("its name is not in the table of names")
	}
	if unit := get(d, unitAt); unit != ^uint32(0) && 4*uint64(unit) > uint64(len(t.units)) {
		return nil, errors.New("its compilation unit is unknown")
	}
	count := get(d, countAt)
	if count > 16 || descriptionSize+4*int(count) > len(d) {
		return nil, errors.New("it has too many tables of values")
	}
	d = d[:descriptionSize+4*count]
	for _, at := range offsets(d) {
		if _, err := t.size(get(d, at)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// size is how long a table of values is: pairs of numbers in base 128 (value difference, distance) until a difference of 0
// that is not the first.
func (t *table) size(offset uint32) (int, error) {
	if offset == 0 {
		return 0, nil
	}
	if uint64(offset) >= uint64(len(t.values)) {
		return 0, errors.New("a table of values is outside of the others")
	}
	rest := t.values[offset:]
	for first := true; ; first = false {
		difference, n := binary.Uvarint(rest)
		if n <= 0 {
			break
		}
		rest = rest[n:]
		if difference == 0 && !first {
			return len(t.values) - int(offset) - len(rest), nil
		}
		if _, n = binary.Uvarint(rest); n <= 0 {
			break
		}
		rest = rest[n:]
	}
	return 0, errors.New("a table of values has no end")
}

func get(b []byte, at int) uint32    { return binary.LittleEndian.Uint32(b[at:]) }
func put(b []byte, at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }

package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t *testing.T, dir string) (*Store, State) {
	t.Helper()
	s, state, err := Open(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, state
}

// filled makes a store with a base and records of some sizes, and gives its file and where its records end.
func filled(t *testing.T, dir string) (file []byte, records [][]byte, ends []int) {
	t.Helper()
	s, state := open(t, dir)
	if state.Base != nil || state.Records != nil {
		t.Fatalf("a new store holds %+v", state)
	}
	if err := s.Replace([]byte("the base")); err != nil {
		t.Fatal(err)
	}
	_, base := s.Grown()
	ends = append(ends, int(base))
	for i, size := range []int{0, 1, 100, 30, 5} {
		record := bytes.Repeat([]byte{byte(i + 1)}, size)
		if err := s.Append(record[:size/2], record[size/2:]); err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
		grown, base := s.Grown()
		ends = append(ends, int(base+grown))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	if len(file) != ends[len(ends)-1] {
		t.Fatalf("%d bytes, counted as %d", len(file), ends[len(ends)-1])
	}
	return file, records, ends
}

func write(t *testing.T, dir string, file []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, stateFile), file, 0o600); err != nil {
		t.Fatal(err)
	}
}

func same(got, want [][]byte) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			return false
		}
	}
	return true
}

// TestTornAtEveryByte: wherever the file ends, the store holds the records that were written whole, and goes on from there.
func TestTornAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	file, records, ends := filled(t, dir)
	for _, rest := range []int{0, 3, 50} { // zeros behind, as after a loss of power
		for cut := ends[0]; cut <= len(file); cut++ {
			whole := 0
			for whole < len(records) && ends[whole+1] <= cut {
				whole++
			}
			write(t, dir, append(bytes.Clone(file[:cut]), make([]byte, rest)...))
			s, state := open(t, dir)
			// The zeros may stand for the end of a record that ends in zeros.
			if string(state.Base) != "the base" || !same(state.Records, records[:whole]) {
				t.Fatalf("cut at %d with %d zeros: %d records, want %d", cut, rest, len(state.Records), whole)
			}
			if torn := cut + rest - ends[whole]; state.Torn != int64(torn) {
				t.Fatalf("cut at %d with %d zeros: %d bytes torn, want %d", cut, rest, state.Torn, torn)
			}
			if err := s.Append([]byte("one more")); err != nil {
				t.Fatal(err)
			}
			s.Close()
			s, state = open(t, dir)
			if want := append(records[:whole:whole], []byte("one more")); !same(state.Records, want) || state.Torn != 0 {
				t.Fatalf("cut at %d: after one more, %q", cut, state.Records)
			}
			s.Close()
		}
	}
}

// TestDamageIsFound: a byte that is wrong with records behind it is an error that says where, never a shorter state.
func TestDamageIsFound(t *testing.T) {
	dir := t.TempDir()
	file, records, ends := filled(t, dir)
	for at := range file {
		bad := bytes.Clone(file)
		bad[at] ^= 0x55
		write(t, dir, bad)
		s, state, err := Open(dir, false)
		last := at >= ends[len(ends)-2] // the last record: it may as well be torn
		switch {
		case last && err == nil && same(state.Records, records[:len(records)-1]):
			s.Close()
			continue
		case err == nil:
			t.Fatalf("byte %d is wrong, and nobody noticed", at)
		}
		start := 0
		for _, end := range ends {
			if end <= at {
				start = end
			}
		}
		if at >= len(magic) && at < ends[0] {
			start = len(magic)
		}
		damage := (*DamageError)(nil)
		if !errors.As(err, &damage) || damage.Offset != int64(start) || !strings.Contains(err.Error(), dir) {
			t.Fatalf("byte %d is wrong in the record at %d: %v", at, start, err)
		}
	}
	for cut := range ends[0] {
		write(t, dir, file[:cut])
		if _, _, err := Open(dir, false); !errors.As(err, new(*DamageError)) {
			t.Fatalf("a base of %d bytes: %v", cut, err)
		}
	}
}

func TestReplaceDropsWhatWas(t *testing.T) {
	dir := t.TempDir()
	filled(t, dir)
	s, _ := open(t, dir)
	if err := s.Replace([]byte("another")); err != nil {
		t.Fatal(err)
	}
	if err := s.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	write := filepath.Join(dir, newFile)
	if err := os.WriteFile(write, []byte("half a ba"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, state := open(t, dir)
	defer s.Close()
	if string(state.Base) != "another" || !same(state.Records, [][]byte{{'x'}}) {
		t.Errorf("%q, %q", state.Base, state.Records)
	}
	if _, err := os.Stat(write); err == nil {
		t.Errorf("half a base is left")
	}
}

func TestOnlyOneHasIt(t *testing.T) {
	dir := t.TempDir()
	s, _ := open(t, dir)
	_, _, err := Open(dir, false)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("opened twice: %v", err)
	}
	s.Close()
	again, _ := open(t, dir)
	again.Close()
}

func BenchmarkAppend(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			s, _, err := Open(b.TempDir(), sync)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			if err := s.Replace([]byte("base")); err != nil {
				b.Fatal(err)
			}
			record := make([]byte, 400)
			b.SetBytes(int64(len(record)))
			for b.Loop() {
				if err := s.Append(record); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

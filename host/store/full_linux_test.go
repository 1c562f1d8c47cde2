package store

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// TestFullDisk: a record that does not fit is an error, and what fitted is still there.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("needs to mount a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	s, _ := open(t, dir)
	if err := s.Replace([]byte("base")); err != nil {
		t.Fatal(err)
	}
	count := 0
	var err error
	for err == nil {
		if err = s.Append(fmt.Append(nil, count), make([]byte, 5000)); err == nil {
			count++
		}
	}
	if !errors.Is(err, syscall.ENOSPC) || count < 5 {
		t.Fatalf("after %d records: %v", count, err)
	}
	if again := s.Append([]byte("small")); !errors.Is(again, syscall.ENOSPC) {
		t.Errorf("it goes on after a loss: %v", again)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, state := open(t, dir)
	if len(state.Records) != count {
		t.Errorf("%d records, want %d", len(state.Records), count)
	}
	if err := s.Replace(make([]byte, 60000)); err == nil {
		t.Errorf("a base of more than there is room for")
	}
	if err := s.Append([]byte("x")); err != nil {
		t.Errorf("after a base that did not fit: %v", err)
	}
	s.Close()
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// The files of a store.
const (
	lockFile  = "lock"
	stateFile = "state"
	newFile   = "state.new"
)

// keepBuffer is the largest buffer that is used again.
const keepBuffer = 1 << 20

// ErrInUse says that another process, or another runtime of this one, uses the store.
var ErrInUse = errors.New("another runtime uses it")

// State is what a store held when it was opened.
type State struct {
	Base    []byte   // nil: nothing was stored yet
	Records [][]byte // what happened after it
	Torn    int64    // so many bytes at the end were a record that was not written to its end; they are cut off
}

// Store is an open store. It is used by one goroutine at a time.
type Store struct {
	dir  string
	sync bool
	lock *os.File
	file *os.File // nil: no base yet
	size int64    // of the file
	base int64    // where its first record ends
	buf  []byte
	dead error
}

// Open opens the store in a folder, which is made if it is not there, and reads what it holds. With sync, what is stored
// survives a loss of power, else the death of the process. The error is ErrInUse if somebody has it open, and a *DamageError
// if its file can not be read.
func Open(dir string, sync bool) (*Store, State, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, State{}, fmt.Errorf("store: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, State{}, fmt.Errorf("store: %w", err)
	}
	if err := lockWhole(lock); err != nil {
		lock.Close()
		return nil, State{}, fmt.Errorf("store: %s: %w", dir, err)
	}
	s := &Store{dir: dir, sync: sync, lock: lock}
	state, err := s.read()
	if err != nil {
		s.Close()
		return nil, State{}, err
	}
	return s, state, nil
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

func (s *Store) read() (State, error) {
	// A new base that did not get its place is as good as never written.
	if err := os.Remove(s.path(newFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return State{}, fmt.Errorf("store: %w", err)
	}
	f, err := os.OpenFile(s.path(stateFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("store: %w", err)
	}
	s.file = f
	b, err := os.ReadFile(s.path(stateFile))
	if err != nil {
		return State{}, fmt.Errorf("store: %w", err)
	}
	records, whole, err := readRecords(s.path(stateFile), b)
	if err != nil {
		return State{}, err
	}
	torn := int64(len(b)) - whole
	if torn > 0 {
		if err := f.Truncate(whole); err != nil {
			return State{}, fmt.Errorf("store: cut off a torn end: %w", err)
		}
	}
	if _, err := f.Seek(whole, 0); err != nil {
		return State{}, fmt.Errorf("store: %w", err)
	}
	s.size, s.base = whole, int64(len(magic)+headerSize+len(records[0]))
	return State{Base: records[0], Records: records[1:], Torn: torn}, nil
}

// Append stores what happened next. When it returns without an error, the record outlives what Open says. After an error the
// store takes nothing more, and whether the record is in it is not known.
func (s *Store) Append(parts ...[]byte) error {
	if s.dead != nil {
		return s.dead
	}
	if s.file == nil {
		return s.die(errors.New("store: a record before the first base"))
	}
	s.buf = appendRecord(s.buf[:0], parts...)
	n := int64(len(s.buf))
	_, err := s.file.Write(s.buf)
	if cap(s.buf) > keepBuffer {
		s.buf = nil
	}
	if err == nil && s.sync {
		err = s.file.Sync()
	}
	if err != nil {
		_ = s.file.Truncate(s.size) // the next one to open it would do the same
		return s.die(fmt.Errorf("store: %w", err))
	}
	s.size += n
	return nil
}

// Replace stores a whole state in the place of all that is stored. After an error the store goes on with what it had.
func (s *Store) Replace(base []byte) error {
	if s.dead != nil {
		return s.dead
	}
	if len(base) > maxRecord {
		return fmt.Errorf("store: a state of %d bytes", len(base))
	}
	f, err := os.OpenFile(s.path(newFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	b := appendRecord(append(make([]byte, 0, len(magic)+headerSize+len(base)), magic...), base)
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(s.path(newFile), s.path(stateFile))
	}
	if err != nil {
		f.Close()
		os.Remove(s.path(newFile))
		return fmt.Errorf("store: %w", err)
	}
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.size, s.base = f, int64(len(b)), int64(len(b))
	if err := syncFolder(s.dir); err != nil && s.sync {
		return s.die(fmt.Errorf("store: %w", err))
	}
	return nil
}

// syncFolder makes a rename last. Windows has no such thing, and needs none.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Grown is how many bytes of records came after the base, and how many the base has.
func (s *Store) Grown() (records, base int64) { return s.size - s.base, s.base }

func (s *Store) die(err error) error {
	s.dead = err
	return err
}

// Close lets others open the store.
func (s *Store) Close() error {
	if s.dead == nil {
		s.dead = fs.ErrClosed
	}
	var err error
	if s.file != nil {
		err = s.file.Close()
		s.file = nil
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close()) // which frees the lock
		s.lock = nil
	}
	return err
}

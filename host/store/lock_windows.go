package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockWhole locks a file for as long as it is open. The system lets go when the process dies.
func lockWhole(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrInUse
	}
	return err
}

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Flags of open that Windows does not know: its named pipes have names of their own.
const (
	noWait  = 0
	onlyDir = 0
)

// syncDir does nothing: Windows has no way to sync a directory, and NTFS journals its names.
func syncDir(string) error { return nil }

// touchedAtRandom does nothing: there is no such advice on Windows.
func touchedAtRandom([]byte) {}

// expect does nothing: what it saves on Windows was not tried.
func expect([]byte) {}

func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

func freeBytes(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free, total, all uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, &total, &all)
	return int64(free), err
}

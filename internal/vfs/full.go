package vfs

import (
	"errors"
	"syscall"
)

// IsFull tells whether an error says that there is no room: a full disk or a used-up quota. Such an error heals by
// itself when somebody makes room; what failed may be tried again. The error of a sync is never of that kind, whatever
// the system calls it: see SyncError.
func IsFull(err error) bool {
	var lost *SyncError
	if errors.As(err, &lost) {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || isFullHere(err)
}

// IsPassing tells whether an error passes by itself, and what failed may be tried again: there is no room, or the process or
// the system has no more file descriptors just now.
func IsPassing(err error) bool {
	var lost *SyncError
	return IsFull(err) || (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && !errors.As(err, &lost)
}

// SyncError is what a failed Sync of a file, a mapping or a directory returns. What had been written and not synced is to
// be taken as lost: the system may have dropped it, shows it to readers all the same, and says so only once. Trying the
// sync again would succeed and mean nothing.
type SyncError struct{ Err error }

// Error is the system's text.
func (e *SyncError) Error() string { return e.Err.Error() }

// Unwrap gives the system's error.
func (e *SyncError) Unwrap() error { return e.Err }

// Synced makes a SyncError of an error; nil stays nil.
func Synced(err error) error {
	if err == nil {
		return nil
	}
	return &SyncError{err}
}

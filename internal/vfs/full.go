package vfs

import (
	"errors"
	"syscall"
)

// IsFull reports whether an error means that there is no space: a full disk or a used-up quota. The failed call may be
// repeated when there is space. The error of a sync is never of this kind, whatever the system returns: see SyncError.
func IsFull(err error) bool {
	var lost *SyncError
	if errors.As(err, &lost) {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || isFullHere(err)
}

// IsPassing reports whether an error is temporary, so that the failed call may be repeated: there is no space, or no
// file descriptor is free.
func IsPassing(err error) bool {
	var lost *SyncError
	return IsFull(err) || (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && !errors.As(err, &lost)
}

// SyncError is returned by a failed Sync of a file, a mapping or a directory. Bytes that were written and not synced
// must be treated as lost: the system may have dropped them, still shows them to readers, and reports this only once.
// Another sync would succeed without effect.
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

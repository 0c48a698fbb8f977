package vfs

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"unsafe"
)

// FaultOffset returns which byte of mapped memory a recovered panic could not access. ok is false for every other
// panic, and for a fault of other memory: these must panic again. It needs debug.SetPanicOnFault(true); without it a
// fault ends the process.
func FaultOffset(recovered any, mapped []byte) (offset int, ok bool) {
	fault, ok := recovered.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok || len(mapped) == 0 {
		return 0, false
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(mapped)))
	if at := fault.Addr(); at >= first && at-first < uintptr(len(mapped)) {
		return int(at - first), true
	}
	return 0, false
}

// JoinCauses joins errors, and keeps one error for each operating-system error number: a disk that is gone fails every
// caller, and one message is enough.
func JoinCauses(errs ...error) error {
	var kept []error
	var met []syscall.Errno
	for _, err := range errs {
		var errno syscall.Errno
		switch {
		case err == nil:
		case !errors.As(err, &errno):
			kept = append(kept, err)
		case !slices.Contains(met, errno):
			kept, met = append(kept, err), append(met, errno)
		}
	}
	return errors.Join(kept...)
}

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

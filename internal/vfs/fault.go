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

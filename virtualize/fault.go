package virtualize

import (
	"fmt"
	"runtime/debug"
	"syscall"

	"orbweaver/internal/vfs"
)

// access is the kind of access to the mapping: reading or writing.
type access bool

const (
	reading access = false
	writing access = true
)

// guard does the same as that of the log, for one segment, which need not be in the log yet.
func (s *segment) guard(to access, before bool, err *error) {
	debug.SetPanicOnFault(before)
	cause := recover()
	if cause == nil {
		return
	}
	if *err = s.faultOf(cause, to); *err == nil {
		panic(cause)
	}
}

// faultOf returns the error of a panic that was a fault of the segment's mapping; nil of any other.
func (s *segment) faultOf(cause any, to access) error {
	at, ok := vfs.FaultOffset(cause, s.data)
	if !ok {
		return nil
	}
	if _, readable := s.read(at); to == writing && readable {
		return fmt.Errorf("virtualize: write to memory-mapped segment %d at byte %d: %w", s.number, at, syscall.ENOSPC)
	}
	return fmt.Errorf("%w: segment %d at byte %d: %w", ErrMapped, s.number, at, syscall.EIO)
}

// read reads a byte of the mapping. ok is false if the page cannot be read.
func (s *segment) read(at int) (b byte, ok bool) {
	defer func(before bool) {
		debug.SetPanicOnFault(before)
		if cause := recover(); cause != nil {
			if _, ours := vfs.FaultOffset(cause, s.data); !ours {
				panic(cause)
			}
			ok = false
		}
	}(debug.SetPanicOnFault(true))
	return s.data[at], true
}

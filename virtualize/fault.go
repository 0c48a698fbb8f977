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

// guard turns a fault of a mapping into an error. It is deferred around everything that touches one:
//
//	defer v.guard(reading, debug.SetPanicOnFault(true), &err)
//
// The system reports that it cannot read or write a page of a mapping as a signal (SIGBUS), which would end the
// process. There are two reasons. A copy-on-write file system needs new space to write to a page again, whatever was
// reserved, and its disk is full: then vfs.IsFull says so of the error. Or the page cannot be read, because of the
// disk, or because the file was made shorter: then the error wraps ErrMapped and EIO. Any other panic, and a fault of
// any other memory, goes on.
//
// What is guarded changes free space of the mapping only, or a tail's next address, before it changes anything else.
func (v *Virtualizer) guard(to access, before bool, err *error) {
	debug.SetPanicOnFault(before)
	cause := recover()
	if cause == nil {
		return
	}
	for _, s := range v.segments {
		if s == nil {
			continue
		}
		if fault := s.faultOf(cause, to); fault != nil {
			*err = fault
			v.checked = 0 // Another read of the same block may return other bytes.
			if vfs.IsFull(fault) {
				v.count.FullFailures++
			}
			return
		}
	}
	panic(cause)
}

// guard does the same for one segment, which need not be one of the Virtualizer's yet.
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

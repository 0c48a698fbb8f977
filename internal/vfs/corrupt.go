package vfs

import (
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by every CorruptError.
var ErrCorrupt = errors.New("corrupt file")

// CorruptError means that bytes of a file are not those that were written. It wraps ErrCorrupt.
type CorruptError struct {
	File   string
	Index  int   // of the file, from 0, where a reader was given several
	Offset int64 // of the invalid block, frame or footer
	What   string
}

// Error names file, offset and fault.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d: %s", ErrCorrupt, e.File, e.Offset, e.What)
}

// Unwrap returns ErrCorrupt.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

package sieve

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt is wrapped by every error about bytes on disk that are not what was written.
	ErrCorrupt = errors.New("sieve: corrupt")
	// ErrClosed is returned by calls after Close.
	ErrClosed = errors.New("sieve: closed")
)

// CorruptError says which bytes are wrong. It wraps ErrCorrupt.
type CorruptError struct {
	File   string
	Offset int64 // of the block, frame or footer that does not hold
	What   string
}

// Error names file, offset and fault.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d: %s", ErrCorrupt, e.File, e.Offset, e.What)
}

// Unwrap returns ErrCorrupt.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

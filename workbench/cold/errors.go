package cold

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt is wrapped by every error about bytes on disk that are not what was written.
	ErrCorrupt = errors.New("cold: corrupt")
	// ErrClosed is returned by calls after Close.
	ErrClosed = errors.New("cold: closed")
)

// CorruptError says which bytes are wrong. It wraps ErrCorrupt.
type CorruptError struct {
	File   string
	Offset int64
	What   string
}

// Error names file, offset and fault.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d: %s", ErrCorrupt, e.File, e.Offset, e.What)
}

// Unwrap returns ErrCorrupt.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

package seen

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt is wrapped by every error about bytes on disk that are not what was written.
	ErrCorrupt = errors.New("seen: corrupt")
	// ErrClosed is returned by calls after Close.
	ErrClosed = errors.New("seen: closed")
	// ErrURI is returned by Insert for a URI that is longer than URIBytesMax.
	ErrURI = errors.New("seen: URI too long")
	// ErrDate is returned by Insert for a date some seventeen thousand years from 1970.
	ErrDate = errors.New("seen: date out of range")
	// ErrFull is returned by Insert when the entries take a tebibyte: that is as far as the index can point.
	ErrFull = errors.New("seen: the map is full")
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

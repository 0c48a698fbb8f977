package warc

import (
	"errors"
	"fmt"
)

// What can be wrong with a file. A *Fault wraps one of them.
var (
	// ErrNotWARC: the bytes are no WARC at all, or not at this place.
	ErrNotWARC = errors.New("not a WARC record")
	// ErrTruncated: the file ends inside a record.
	ErrTruncated = errors.New("truncated")
	// ErrCompression: a gzip member or zstd frame is damaged.
	ErrCompression = errors.New("damaged compression")
	// ErrSyntax: a header or the end of a record has not the form it should have.
	ErrSyntax = errors.New("bad syntax")
	// ErrField: a field is missing, or its value is not of its kind.
	ErrField = errors.New("bad field")
	// ErrDigest: a digest does not match the bytes.
	ErrDigest = errors.New("digest mismatch")
	// ErrFraming: records and members do not match one to one.
	ErrFraming = errors.New("not one record per member")
	// ErrReference: two records have one identity, or a record names one that is not there.
	ErrReference = errors.New("bad reference")
	// ErrTooLarge: a header or block is larger than the reader's limit.
	ErrTooLarge = errors.New("too large")
)

// Fault is something wrong at a place in a file. errors.Is finds the Kind.
type Fault struct {
	// Kind is one of the errors above.
	Kind error
	// File is its name, as given to the reader.
	File string
	// Offset of the record's member in the file, in bytes.
	Offset int64
	// What says it in words.
	What string
}

// Error gives file, offset, kind and details in one line.
func (f *Fault) Error() string {
	return fmt.Sprintf("warc: %s at %d: %v: %s", f.File, f.Offset, f.Kind, f.What)
}

// Unwrap gives the Kind.
func (f *Fault) Unwrap() error { return f.Kind }

// Policy says what a reader does about a class of faults.
type Policy uint8

// Ignore does not even look, where looking costs something. Warn reports and goes on. Fail makes the call return the fault.
const (
	Ignore Policy = iota
	Warn
	Fail
)

package warc

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"orbweaver/internal/textfile"
	"orbweaver/warc/cdxj"
)

// The kinds of faults of a file, besides those of package member. A *Fault wraps one of them.
var (
	// ErrSyntax: a header or the end of a record has invalid syntax.
	ErrSyntax = errors.New("bad syntax")
	// ErrField: a field is missing or has an invalid value.
	ErrField = errors.New("bad field")
	// ErrDigest: a digest does not match the bytes.
	ErrDigest = errors.New("digest mismatch")
	// ErrFraming: a member does not contain exactly one record.
	ErrFraming = errors.New("not one record per member")
	// ErrUnread: a file cannot be opened.
	ErrUnread = errors.New("cannot be read")
	// ErrReference: two records have the same identity, or a record names one that does not exist.
	ErrReference = errors.New("bad reference")
)

// Fault is a fault at a position in a file. errors.Is finds the Kind.
type Fault struct {
	// Kind is one of the errors above or of package member.
	Kind error
	// File is its name, as passed to the reader.
	File string
	// Offset of the record's member in the file, in bytes.
	Offset int64
	// What describes it.
	What string
}

// LineFault returns the fault of a line of an index that is left out. err wraps cdxj.ErrLine.
func LineFault(index string, offset int64, err error) *Fault {
	what := strings.TrimPrefix(err.Error(), cdxj.ErrLine.Error()+": ")
	return &Fault{Kind: cdxj.ErrLine, File: index, Offset: offset, What: what + "; it is left out"}
}

// Error returns file, offset, kind and description in one line, without control characters.
func (f *Fault) Error() string {
	return textfile.Plain(fmt.Sprintf("warc: %s at %d: %v: %s", f.File, f.Offset, f.Kind, f.What))
}

// Unwrap returns the Kind.
func (f *Fault) Unwrap() error { return f.Kind }

// Unopened returns the fault of a file that cannot be opened. It wraps ErrUnread and err.
func Unopened(name string, err error) *Fault {
	return &Fault{Kind: unread{err}, File: path.Base(name), What: err.Error()}
}

// unread is ErrUnread with its cause.
type unread struct{ cause error }

func (unread) Error() string { return ErrUnread.Error() }

// Unwrap returns ErrUnread and the cause.
func (u unread) Unwrap() []error { return []error{ErrUnread, u.cause} }

// Policy is the reaction of a reader to a class of faults.
type Policy uint8

// Ignore does not check what is costly to check. Warn reports the fault and continues. Fail returns the fault.
const (
	Ignore Policy = iota
	Warn
	Fail
)

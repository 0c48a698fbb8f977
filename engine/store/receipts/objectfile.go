package receipts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"sync"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// Objects opens objects of object stores.
type Objects interface {
	// OpenObject opens the object of a removed file, to read length bytes from an offset. The error names the cause
	// alone. It is away if objects are not read.
	OpenObject(away *ElsewhereError, offset, length int64) (io.ReadCloser, error)
}

// NoObjects reads no object: the zero value of what a Disk reads.
type NoObjects struct{}

// OpenObject implements Objects.
func (NoObjects) OpenObject(away *ElsewhereError, _, _ int64) (io.ReadCloser, error) {
	return nil, away
}

// ReadError says why the object of a removed file cannot be read. It wraps vfs.ErrElsewhere and the cause.
type ReadError struct {
	ElsewhereError

	Cause error
}

// Error names the object, the cause and the remedy.
func (e *ReadError) Error() string {
	return fmt.Sprintf(
		"%s is not here, and it cannot be read from %s: %v: 'orbweaver upload --fetch-back %s' gets it back",
		path.Join(e.Crawl, layout.ArchiveDir, e.File), e.Place(), e.Cause, e.Crawl)
}

// Unwrap returns vfs.ErrElsewhere and the cause.
func (e *ReadError) Unwrap() []error { return []error{vfs.ErrElsewhere, e.Cause} }

// Errors of objects.
var (
	// ErrNotAsSent means that a whole object has other bytes than the file that was sent.
	ErrNotAsSent = errors.New("the object is not the file that was sent")

	errInOrder  = errors.New("an object is read in order only")
	errReadOnly = errors.New("an object is only read")
)

// objectFile is a removed file, or a part of it, that is read from its object in order, with one request. A read at
// another offset makes another.
type objectFile struct {
	from       Objects
	object     *ElsewhereError
	name       string
	begin, end int64 // the part
	isWhole    bool  // it is read once from its beginning, and its digest is compared

	mu   sync.Mutex
	body io.ReadCloser // of the request; an empty one without
	next int64         // offset of what body reads next
	at   int64         // position of Read
	sum  hash.Hash     // of a whole file
}

// emptyBody is the body of no request.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// openPart opens a part of a removed file. With length 0 the part ends with the file.
func openPart(from Objects, away *ElsewhereError, name string, offset, length int64) (vfs.File, error) {
	end := away.Length
	if offset = min(max(offset, 0), end); length > 0 {
		end = min(end, offset+length)
	}
	return open(&objectFile{from: from, object: away, name: name, begin: offset, end: end})
}

// openWhole opens a removed file to read it from its beginning. Its digest is compared at its end.
func openWhole(from Objects, away *ElsewhereError, name string) (vfs.File, error) {
	return open(&objectFile{from: from, object: away, name: name, end: away.Length, isWhole: true})
}

func open(f *objectFile) (vfs.File, error) {
	f.body, f.sum = emptyBody{}, sha256.New()
	if err := f.request(f.begin); err != nil {
		return nil, err
	}
	return f, nil
}

// ReadAt implements io.ReaderAt. The file ends where the part ends.
func (f *objectFile) ReadAt(b []byte, offset int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readAt(b, offset)
}

func (f *objectFile) readAt(b []byte, offset int64) (n int, err error) {
	if offset < f.begin || offset >= f.end {
		return 0, io.EOF
	}
	if offset != f.next {
		if err := f.request(offset); err != nil {
			return 0, err
		}
	}
	want := b[:min(int64(len(b)), f.end-offset)]
	if n, err = io.ReadFull(f.body, want); err == nil && f.isWhole {
		f.sum.Write(want)
		err = f.compare(offset + int64(n))
	}
	if err != nil {
		f.next = -1
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the answer of the store ended at byte %d of %d", offset+int64(n), f.object.Length)
		}
		return 0, f.fault(err)
	}
	f.next += int64(n)
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// request begins to read at an offset. A whole file has one request.
func (f *objectFile) request(offset int64) error {
	if f.isWhole && f.next != 0 {
		return f.fault(errInOrder)
	}
	_ = f.body.Close() // what is left of it is not wanted
	f.body, f.next = emptyBody{}, -1
	body, err := f.from.OpenObject(f.object, offset, f.end-offset)
	if err != nil {
		return f.fault(err)
	}
	f.body, f.next = body, offset
	return nil
}

// compare compares the digest at the end of a whole file. The last bytes are given only if it is right.
func (f *objectFile) compare(read int64) error {
	if read < f.end {
		return nil
	}
	if sum := hex.EncodeToString(f.sum.Sum(nil)); sum != f.object.SHA256 {
		return fmt.Errorf("%w: its SHA-256 is %s, not %s", ErrNotAsSent, sum, f.object.SHA256)
	}
	return nil
}

// fault makes a *ReadError, unless objects are not read.
func (f *objectFile) fault(cause error) error {
	if own := new(ElsewhereError); errors.As(cause, &own) {
		return own
	}
	return &ReadError{ElsewhereError: *f.object, Cause: cause}
}

// Read implements io.Reader.
func (f *objectFile) Read(b []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err = f.readAt(b, f.at)
	if f.at += int64(n); n > 0 {
		err = nil
	}
	return n, err
}

// Close ends the request.
func (f *objectFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.body.Close() // what is missing was not wanted
	f.next = -1
	return nil
}

// Name implements vfs.File.
func (f *objectFile) Name() string { return f.name }

// Size is the length of the whole file.
func (f *objectFile) Size() (int64, error) { return f.object.Length, nil }

// Write implements vfs.File.
func (f *objectFile) Write([]byte) (int, error) { return 0, f.fault(errReadOnly) }

// WriteAt implements vfs.File.
func (f *objectFile) WriteAt([]byte, int64) (int, error) { return 0, f.fault(errReadOnly) }

// Truncate implements vfs.File.
func (f *objectFile) Truncate(int64) error { return f.fault(errReadOnly) }

// Sync implements vfs.File.
func (f *objectFile) Sync() error { return f.fault(errReadOnly) }

// Allocate implements vfs.File.
func (f *objectFile) Allocate(int64, int64) error { return f.fault(errReadOnly) }

// Forget implements vfs.File.
func (f *objectFile) Forget(int64, int64) {}

// Map implements vfs.File.
func (f *objectFile) Map(int64) (vfs.Mapping, error) { return nil, f.fault(errReadOnly) }

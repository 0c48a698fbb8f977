package vfs

import (
	"errors"
	"io"
)

// ErrElsewhere is wrapped by the error of a file that is listed here, and that another machine has.
var ErrElsewhere = errors.New("vfs: the file is elsewhere")

// ErrNotRegular is wrapped by the error of FS.Open for a directory, a named pipe, a socket or a device.
var ErrNotRegular = errors.New("not a regular file")

// ErrLocked is returned by FS.Lock when another holder (another process, or another value in this one) has the lock.
var ErrLocked = errors.New("vfs: already locked")

// FS is a tree of files. Names are slash-separated paths. All methods are safe for concurrent use.
// Errors wrap fs.ErrNotExist and friends where they apply, and carry the file's name.
type FS interface {
	// Create makes the file, or truncates it to nothing, and opens it for reading and writing.
	Create(name string) (File, error)
	// Open opens an existing file for reading only. It never waits for another process: what is not a regular file is
	// refused with ErrNotRegular. On a disk only names below /dev may be anything: /dev/stdin, or a pipe of the shell.
	Open(name string) (File, error)
	// OpenRW opens a file for reading and writing and makes it empty if it does not exist. It never truncates.
	OpenRW(name string) (File, error)
	// Rename replaces newName by oldName in one step. It survives a power cut only after SyncDir.
	Rename(oldName, newName string) error
	// Remove deletes one file or empty directory. A missing name is an error that wraps fs.ErrNotExist.
	Remove(name string) error
	// MkdirAll makes the directory and its parents.
	MkdirAll(name string) error
	// List returns the base names in a directory, sorted. A missing directory is an error that wraps fs.ErrNotExist.
	List(dir string) ([]string, error)
	// Size returns a file's length in bytes.
	Size(name string) (int64, error)
	// SyncDir makes the names in the directory durable.
	SyncDir(dir string) error
	// Lock takes an exclusive advisory lock on a file, which is created if missing. It returns ErrLocked if the lock is
	// held. Closing the result releases the lock.
	Lock(name string) (io.Closer, error)
	// Free returns the bytes that may still be written on the file system that holds dir.
	Free(dir string) (int64, error)
}

// RangeFS is an FS that opens a part of a file at less cost than the whole.
type RangeFS interface {
	FS
	// OpenRange opens a file to read length bytes from an offset, in order. With length 0 the range ends with the file.
	// What is outside of the range may be missing.
	OpenRange(name string, offset, length int64) (File, error)
}

// File is an open file. Reads and writes at offsets may run concurrently; Read and Write share one position.
type File interface {
	io.Reader
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Name is the name the file was opened by.
	Name() string
	// Size is the current length in bytes.
	Size() (int64, error)
	// Truncate sets the length. It must not be called while the file is mapped.
	Truncate(size int64) error
	// Sync makes the content durable. After a SyncError, unsynced content must be treated as lost, and a later
	// successful Sync means nothing.
	Sync() error
	// Allocate reserves disk space for the range and grows the file to cover it. Later writes through a mapping cannot
	// meet a full disk then, except on copy-on-write file systems, where they fault: see FaultOffset.
	Allocate(offset, length int64) error
	// Forget says that the range will not be read soon: what of it is durable may leave the system's memory, so that
	// this is there for others. It changes nothing but speed, and where a system knows no such thing it does nothing.
	Forget(offset, length int64)
	// Map maps the first length bytes, readable and (for files opened for writing) writable. The file must be at least
	// that long and must not be resized while mapped. The mapping outlives the file's Close. Nothing is read ahead: its
	// users touch pages here and there.
	Map(length int64) (Mapping, error)
}

// Mapping is a mapped range of a file. The slice is valid until Close.
type Mapping interface {
	// Bytes borrows the mapped bytes; it is the same slice at each call.
	Bytes() []byte
	// Expect says that the range, which must be within the mapping, will be read soon. The system reads what is not in
	// memory, without waiting. It changes nothing but speed, and where a system knows no such thing it does nothing.
	Expect(offset, length int)
	// Sync makes changes made through the mapping durable.
	Sync() error
	// Close unmaps. No slice of Bytes may be used afterwards.
	Close() error
}

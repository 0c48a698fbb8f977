package vfs

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// TemporarySuffix follows the name of a file that WriteAtomic has not finished. A kill may leave one behind.
const TemporarySuffix = ".tmp"

// WriteAtomic puts what write produces under name: afterwards, whatever happens, the name has the old content or the
// new one, whole and durable. It writes name + ".tmp", syncs it, renames it over name and syncs the directory, so two
// WriteAtomic of one name must not run at the same time. When it fails before the rename the old content stays and the
// temporary file is removed; when the directory's sync fails the new content is there but may not survive a power cut.
// write gets a buffered writer and need not flush it.
func WriteAtomic(fsys FS, name string, write func(io.Writer) error) error {
	tmp := name + TemporarySuffix
	if err := writeSynced(fsys, tmp, write); err != nil {
		return joinOther(err, RemoveIfExists(fsys, tmp))
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return joinOther(err, RemoveIfExists(fsys, tmp))
	}
	return fsys.SyncDir(path.Dir(name))
}

func writeSynced(fsys FS, name string, write func(io.Writer) error) error {
	f, err := fsys.Create(name)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(f, 64<<10)
	if err = write(buf); err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	// A file whose sync failed is removed and may be written again from its start, so nothing is lost.
	var lost *SyncError
	if errors.As(err, &lost) {
		err = lost.Err
	}
	return joinOther(err, f.Close())
}

// joinOther joins a later error with err, unless it is the same fault: a disk that fails refuses everything.
func joinOther(err, after error) error {
	var first, second syscall.Errno
	if errors.As(err, &first) && errors.As(after, &second) && first == second {
		return err
	}
	return errors.Join(err, after)
}

// ReadFile returns the whole content of a file. The caller owns it.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	data := make([]byte, size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // The file was truncated meanwhile: the remaining bytes are the content.
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return data[:n], nil
}

// OpenRange opens a file to read a part of it: see RangeFS. Any other FS opens the whole file.
func OpenRange(fsys FS, name string, offset, length int64) (File, error) {
	if parts, ok := fsys.(RangeFS); ok {
		return parts.OpenRange(name, offset, length)
	}
	return fsys.Open(name)
}

// RemoveIfExists removes a file. A missing file is no error. The removal is durable only after SyncDir.
func RemoveIfExists(fsys FS, name string) error {
	err := fsys.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Temporary makes a file in the system's directory for temporary files, which TMPDIR names. Where the system allows it
// the file has no name, so that nothing of it stays when the process is killed. Elsewhere Close removes it.
func Temporary() (File, error) {
	f, err := os.CreateTemp("", "orbweaver-*.tmp") // mode 0600
	if err != nil {
		return nil, err
	}
	opened := &diskFile{File: f, name: filepath.ToSlash(f.Name()), writable: true}
	if os.Remove(f.Name()) != nil {
		return &removedAtClose{opened}, nil //nolint:nilerr // this system cannot remove what is open
	}
	return opened, nil
}

// removedAtClose is a file whose name stays until it is closed.
type removedAtClose struct{ *diskFile }

// Close removes the file, too.
func (f *removedAtClose) Close() error {
	return errors.Join(f.diskFile.Close(), os.Remove(f.File.Name()))
}

package vfs

import (
	"errors"
	"os"
	"path/filepath"
)

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

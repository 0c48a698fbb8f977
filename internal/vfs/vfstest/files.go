package vfstest

import (
	"testing"

	"orbweaver/internal/vfs"
)

// WithDir returns an empty disk with one directory.
func WithDir(t *testing.T, dir string) *vfs.Mem {
	t.Helper()
	disk := vfs.NewMem(1)
	must(t, disk.MkdirAll(dir))
	return disk
}

// ReadAll returns the content of a file.
func ReadAll(t *testing.T, fsys vfs.FS, name string) []byte {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name)
	must(t, err)
	return b
}

// WriteAll makes a file with this content.
func WriteAll(t *testing.T, fsys vfs.FS, name string, content []byte) {
	t.Helper()
	f, err := fsys.Create(name)
	must(t, err)
	_, err = f.Write(content)
	must(t, err)
	must(t, f.Close())
}

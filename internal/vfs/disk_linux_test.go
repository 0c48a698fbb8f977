package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// resident reports whether a page of the file is in the system's memory: a read that may not wait gets it.
func resident(t *testing.T, f *os.File, offset int64) bool {
	t.Helper()
	buf := make([]byte, 1)
	n, err := unix.Preadv2(int(f.Fd()), [][]byte{buf}, offset, unix.RWF_NOWAIT)
	if errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("the file system of this test does not tell what is in memory")
	}
	return n == 1 && err == nil
}

// TestForgottenPagesLeaveMemory, those that are durable and lie wholly in the range.
func TestForgottenPagesLeaveMemory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := Disk().Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	const size, piece = 16 << 20, 16 << 10 // in small pieces, since a system that keeps large ones keeps them as a whole
	for at := int64(0); at < size; at += piece {
		if _, err := f.WriteAt(make([]byte, piece), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	look, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = look.Close() }()
	var fs unix.Statfs_t
	if unix.Fstatfs(int(look.Fd()), &fs) == nil && fs.Type == unix.TMPFS_MAGIC {
		t.Skip("tmpfs is memory")
	}
	if !resident(t, look, 0) {
		t.Skip("what was just written is not in memory")
	}
	f.Forget(0, size/2)
	// From the end, since a read may bring more than it was asked for.
	if !resident(t, look, size-1) {
		t.Error("what nobody spoke of was forgotten")
	}
	if resident(t, look, size/4) {
		t.Error("nothing was forgotten")
	}
}

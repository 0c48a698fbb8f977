package vfs

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident reports what part of some bytes of the file is in the system's memory. A read that may not wait would tell
// of one page, too, but may bring it.
func resident(t *testing.T, f *os.File, offset, size int) float64 {
	t.Helper()
	mapped, err := unix.Mmap(int(f.Fd()), int64(offset), size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	pages := make([]byte, size/os.Getpagesize())
	_, _, errno := unix.Syscall(
		unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(size), uintptr(unsafe.Pointer(&pages[0])),
	)
	if errno != 0 {
		t.Fatal(errno)
	}
	in := 0
	for _, p := range pages {
		in += int(p & 1)
	}
	return float64(in) / float64(len(pages))
}

// Pages that are durable and completely in the range leave memory.
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
	if resident(t, look, 0, size) < 0.9 {
		t.Skip("what was just written is not in memory")
	}
	f.Forget(0, size/2)
	if in := resident(t, look, 0, size/2); in > 0.1 { // what the system has a use for right then stays
		t.Errorf("%.3f of what is of no use any more is still there", in)
	}
	if in := resident(t, look, size/2, size/2); in < 0.9 {
		t.Errorf("%.3f of what nobody spoke of is still there", in)
	}
}

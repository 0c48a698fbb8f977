package vfstest_test

import (
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/internal/vfs/vfstest"
)

func TestMem(t *testing.T) {
	vfstest.RunFS(t, func(*testing.T) vfs.FS { return vfs.NewMem(1) })
}

func TestDisk(t *testing.T) {
	vfstest.RunFS(t, func(t *testing.T) vfs.FS {
		t.Chdir(t.TempDir())
		return vfs.Disk()
	})
}

// The permissions of the files change nothing else.
func TestPrivateDisk(t *testing.T) {
	vfstest.RunFS(t, func(t *testing.T) vfs.FS {
		t.Chdir(t.TempDir())
		return vfs.PrivateDisk("d/e")
	})
}

// Without a fault in its script the fault injector is invisible.
func TestFaultFS(t *testing.T) {
	vfstest.RunFS(t, func(*testing.T) vfs.FS { return faultfs.New(vfs.NewMem(1), faultfs.NewScript()) })
}

// After a kill or a power cut the disk is a disk.
func TestClones(t *testing.T) {
	vfstest.RunFS(t, func(*testing.T) vfs.FS { return vfs.NewMem(1).KillClone() })
	vfstest.RunFS(t, func(*testing.T) vfs.FS { return vfs.NewMem(1).CrashClone(nil) })
}

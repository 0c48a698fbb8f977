//go:build unix

package vfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Open and List never wait for another process: what is no regular file is refused. A pipe of the process itself can be
// read by its name below /dev.
func TestDisk_whatIsNoRegularFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	pipe, device := filepath.Join(dir, "x.warc.gz"), filepath.Join(dir, "zero")
	for _, err := range []error{syscall.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", device)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{pipe, device, dir} {
		if _, err := Disk().Open(name); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{pipe, device} {
		if _, err := Disk().List(name); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("list of %s: %v", name, err)
		}
	}
	f, err := Disk().Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadFull(f, make([]byte, 10)); err != nil {
		t.Error(err)
	}
}

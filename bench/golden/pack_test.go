package golden_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
)

// pack makes a tar.zst of all files of a disk.
func pack(t *testing.T, disk *vfs.Mem) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(golden.Tar(t, disk), nil)
}

// unpack makes a disk of a pack.
func unpack(t *testing.T, packed []byte) *vfs.Mem {
	t.Helper()
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := z.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return golden.Disk(t, b)
}

func writeFile(disk *vfs.Mem, name string, content io.Reader) error {
	return vfs.WriteAtomic(disk, name, func(w io.Writer) error {
		_, err := io.Copy(w, content)
		return err
	})
}

// removeTree removes a directory with everything in it.
func removeTree(t *testing.T, disk *vfs.Mem, dir string) {
	t.Helper()
	names, err := disk.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name = dir + "/" + name
		if _, err := disk.List(name); err == nil {
			removeTree(t, disk, name)
		} else if err := disk.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.Remove(dir); err != nil {
		t.Fatal(err)
	}
}

// A disk that is packed and unpacked has the same files, empty directories among them.
func TestPack_aDiskComesBackAsItWas(t *testing.T) {
	disk := vfs.NewMem(1)
	err := errors.Join(
		disk.MkdirAll("a/b"), disk.MkdirAll("c"), writeFile(disk, "a/b/file", strings.NewReader("text")),
	)
	if err != nil {
		t.Fatal(err)
	}
	packed := pack(t, disk)
	back := unpack(t, packed)
	if again := pack(t, back); !bytes.Equal(again, packed) {
		t.Error("packed again, it is another")
	}
	if _, err := back.List("c"); err != nil {
		t.Error(err)
	}
	if _, err := back.Open("a/b/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

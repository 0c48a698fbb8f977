package golden

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"testing"

	"orbweaver/internal/vfs"
)

// checkpointFile is the file of a Tar that holds the checkpoint: what the manifest says of the files beside it.
const checkpointFile = "cut.json"

// CompareCheckpoint compares the files that a component wrote, and the checkpoint that names them, with a golden file:
// a tar with the checkpoint as JSON. It returns the disk and the checkpoint of the file, for the component to open.
func CompareCheckpoint[C any](t testing.TB, name, sum string, disk *vfs.Mem, checkpoint C) (*vfs.Mem, C) {
	t.Helper()
	writeCheckpoint(t, disk, checkpoint)
	return unpackCheckpoint[C](t, Compare(t, name, sum, Tar(t, disk)))
}

// ReadCheckpoint is CompareCheckpoint for files whose content is not the same each time. With -golden.write it writes
// those of disk if there is no such file.
func ReadCheckpoint[C any](t testing.TB, name, sum string, disk *vfs.Mem, checkpoint C) (*vfs.Mem, C) {
	t.Helper()
	writeCheckpoint(t, disk, checkpoint)
	if Writing() {
		Add(t, name, Tar(t, disk))
	}
	return unpackCheckpoint[C](t, Read(t, name, sum))
}

func writeCheckpoint(t testing.TB, disk *vfs.Mem, checkpoint any) {
	t.Helper()
	b, err := json.Marshal(checkpoint)
	if err == nil {
		err = writeFile(disk, checkpointFile, b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func unpackCheckpoint[C any](t testing.TB, packed []byte) (*vfs.Mem, C) {
	t.Helper()
	var checkpoint C
	disk := Disk(t, packed)
	b, err := vfs.ReadFile(disk, checkpointFile)
	if err == nil {
		err = json.Unmarshal(b, &checkpoint)
	}
	if err != nil {
		t.Fatal(err)
	}
	return disk, checkpoint
}

// Tar returns a tar of all files of a disk. Equal disks have equal tars.
func Tar(t testing.TB, disk *vfs.Mem) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	add := func(h tar.Header, content []byte) {
		t.Helper()
		h.Format, h.Size = tar.FormatPAX, int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	var visit func(dir string)
	visit = func(dir string) {
		names, err := disk.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			name = path.Join(dir, name)
			if _, err := disk.List(name); err == nil {
				add(tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}, nil)
				visit(name)
				continue
			}
			content, err := vfs.ReadFile(disk, name)
			if err != nil {
				t.Fatal(err)
			}
			add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, content)
		}
	}
	visit(".")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Disk returns a disk with the files of a tar. All of it is durable.
func Disk(t testing.TB, packed []byte) *vfs.Mem {
	t.Helper()
	disk := vfs.NewMem(1)
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return disk
		}
		if err != nil {
			t.Fatal(err)
		}
		name := path.Clean(h.Name)
		if h.Typeflag == tar.TypeDir {
			if err := disk.MkdirAll(name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		content, err := io.ReadAll(r)
		if err == nil {
			err = writeFile(disk, name, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func writeFile(disk *vfs.Mem, name string, content []byte) error {
	return vfs.WriteAtomic(disk, name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

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

// cutFile is the file of a Tar that holds the cut: what the manifest says of the files beside it.
const cutFile = "cut.json"

// CompareCut compares the files that a component wrote, and the cut that names them, with a golden file: a tar with the
// cut as JSON. It returns the disk and the cut of the file, for the component to open.
func CompareCut[C any](t testing.TB, name, sum string, disk *vfs.Mem, cut C) (*vfs.Mem, C) {
	t.Helper()
	writeCut(t, disk, cut)
	return unpackCut[C](t, Compare(t, name, sum, Tar(t, disk)))
}

// ReadCut is CompareCut for files whose content is not the same each time. With -golden.write it writes those of disk
// if there is no such file.
func ReadCut[C any](t testing.TB, name, sum string, disk *vfs.Mem, cut C) (*vfs.Mem, C) {
	t.Helper()
	writeCut(t, disk, cut)
	if Writing() {
		Add(t, name, Tar(t, disk))
	}
	return unpackCut[C](t, Read(t, name, sum))
}

func writeCut(t testing.TB, disk *vfs.Mem, cut any) {
	t.Helper()
	b, err := json.Marshal(cut)
	if err == nil {
		err = writeFile(disk, cutFile, b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func unpackCut[C any](t testing.TB, packed []byte) (*vfs.Mem, C) {
	t.Helper()
	var cut C
	disk := Disk(t, packed)
	b, err := vfs.ReadFile(disk, cutFile)
	if err == nil {
		err = json.Unmarshal(b, &cut)
	}
	if err != nil {
		t.Fatal(err)
	}
	return disk, cut
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

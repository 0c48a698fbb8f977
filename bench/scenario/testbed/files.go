package testbed

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// FsckReadOnly runs fsck on the crawl, and checks that fsck changes nothing on the disk.
func FsckReadOnly(t *testing.T, fsys *vfs.Mem) fsck.Report {
	t.Helper()
	before := FileContents(t, fsys)
	r := Fsck(t, fsys)
	after := FileContents(t, fsys)
	if len(before) != len(after) {
		t.Errorf("%d files before the check, %d after it", len(before), len(after))
	}
	for name, data := range before {
		if after[name] != data {
			t.Errorf("the check changed %s", name)
		}
	}
	return r
}

// Fsck runs fsck on the crawl.
func Fsck(t *testing.T, fsys *vfs.Mem) fsck.Report {
	t.Helper()
	r, err := fsck.Check(t.Context(), fsys, "crawl", fsck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// FileContentMax is how much of a file content reads: segments of queues are large, and empty behind their beginning.
const FileContentMax = 1 << 20

// FileContents reads all files of the crawl.
func FileContents(t *testing.T, fsys *vfs.Mem) map[string]string {
	t.Helper()
	files := map[string]string{}
	var visit func(dir string)
	visit = func(dir string) {
		names, err := fsys.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			name = dir + "/" + name
			if _, err := fsys.List(name); err == nil {
				visit(name)
				continue
			}
			f, err := fsys.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(io.LimitReader(f, FileContentMax))
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			files[name] = string(data)
		}
	}
	visit("crawl")
	return files
}

// WantSound ends the test if fsck has found a fault.
func WantSound(t *testing.T, r *fsck.Report) {
	t.Helper()
	if !r.Sound() {
		r.Print(t.Output())
		t.Fatal("not sound")
	}
}

// FlipByte changes one byte of a file.
func FlipByte(t *testing.T, fsys *vfs.Mem, name string, at int) {
	t.Helper()
	f, err := fsys.OpenRW(name)
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	_, err = f.ReadAt(b[:], int64(at))
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	b[0] ^= 0x41
	if _, err := f.WriteAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// NamedFiles is content without the runs of content seen that no manifest names: what a merge leaves lies about for a
// while.
func NamedFiles(t *testing.T, fsys *vfs.Mem) map[string]string {
	t.Helper()
	runs := map[string]bool{}
	for _, r := range Inspect(t, fsys).Seen.Runs {
		runs[fmt.Sprintf("crawl/%s/run-%012d", layout.SeenDir, r.Serial)] = true
	}
	files := FileContents(t, fsys)
	for file := range files {
		if strings.HasPrefix(file, "crawl/"+layout.SeenDir+"/run-") && !runs[file] {
			delete(files, file)
		}
	}
	return files
}

// Inspect reads the manifest of the crawl.
func Inspect(t *testing.T, fsys *vfs.Mem) *inspect.Checkpoint {
	t.Helper()
	cut, err := inspect.Open(fsys, "crawl")
	if err != nil {
		t.Fatal(err)
	}
	return cut
}

// DiskUsed is the length of the files of the crawl: archive, frontier and logs.
func DiskUsed(t *testing.T, fsys vfs.FS) (total int64) {
	t.Helper()
	for dirs := []string{"crawl/warc", "crawl/logs", "crawl/frontier"}; len(dirs) > 0; dirs = dirs[1:] {
		names, err := fsys.List(dirs[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			name = dirs[0] + "/" + name
			if n, err := fsys.Size(name); err == nil {
				total += n
			} else {
				dirs = append(dirs, name)
			}
		}
	}
	return total
}

// RemoveTree removes a directory and its content.
func RemoveTree(t *testing.T, fsys *vfs.Mem, dir string) {
	t.Helper()
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name = dir + "/" + name
		if _, err := fsys.List(name); err == nil {
			RemoveTree(t, fsys, name)
		} else if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := fsys.Remove(dir); err != nil {
		t.Fatal(err)
	}
}

package vfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
)

// Both kinds of disk: the real one maps files, and a mapping of a file that is open for reading must not be written.
func disks(t *testing.T) map[string]struct {
	fsys FS
	dir  string
} {
	t.Helper()
	mem := NewMem(1)
	if err := mem.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		fsys FS
		dir  string
	}{"memory": {mem, "d"}, "disk": {Disk(), filepath.ToSlash(t.TempDir())}}
}

func putAll(t *testing.T, fsys FS, name, text string) {
	t.Helper()
	err := WriteAtomic(fsys, name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fsys FS, name string) string {
	t.Helper()
	b, err := ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOverlay_truncationsAndRemovalsAreSeenThroughItAndNowhereElse(t *testing.T) {
	for kind, d := range disks(t) {
		t.Run(kind, func(t *testing.T) {
			a, b := d.dir+"/a", d.dir+"/b"
			putAll(t, d.fsys, a, "0123456789")
			putAll(t, d.fsys, b, "b")
			o := NewOverlay(t.Context(), d.fsys)
			f, err := o.OpenRW(a)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Truncate(4); err != nil {
				t.Fatal(err)
			}
			if err := f.Truncate(5); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("made longer again: %v", err)
			}
			if n, err := f.Size(); n != 4 || err != nil {
				t.Errorf("size %d, %v", n, err)
			}
			if n, err := f.ReadAt(make([]byte, 3), 2); n != 2 || err != io.EOF {
				t.Errorf("read %d bytes over the end, %v", n, err)
			}
			if n, err := f.ReadAt(make([]byte, 3), 4); n != 0 || err != io.EOF {
				t.Errorf("read %d bytes behind the end, %v", n, err)
			}
			if err := errors.Join(f.Sync(), f.Close(), o.Remove(b), o.SyncDir(d.dir)); err != nil {
				t.Fatal(err)
			}
			if got := read(t, o, a); got != "0123" {
				t.Errorf("through the overlay: %q", got)
			}
			if _, err := o.Open(b); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("removed and opened: %v", err)
			}
			if err := o.Remove(b); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("removed twice: %v", err)
			}
			names, err := o.List(d.dir)
			if err != nil || !slices.Equal(names, []string{"a"}) || o.Hidden(d.dir) != 1 {
				t.Errorf("listed %q, %v; %d hidden", names, err, o.Hidden(d.dir))
			}
			if got := read(t, d.fsys, a) + read(t, d.fsys, b); got != "0123456789b" {
				t.Errorf("on the disk: %q", got)
			}
		})
	}
}

func TestOverlay_nothingCanBeWritten(t *testing.T) {
	for kind, d := range disks(t) {
		t.Run(kind, func(t *testing.T) {
			a := d.dir + "/a"
			putAll(t, d.fsys, a, "0123456789")
			o := NewOverlay(t.Context(), d.fsys)
			f, err := o.OpenRW(a)
			if err != nil {
				t.Fatal(err)
			}
			_, werr := f.Write([]byte("x"))
			_, aerr := f.WriteAt([]byte("x"), 0)
			_, cerr := o.Create(d.dir + "/c")
			_, lerr := o.Lock(d.dir + "/lock")
			for what, err := range map[string]error{
				"write": werr, "write at": aerr, "create": cerr, "lock": lerr,
				"allocate": f.Allocate(0, 100), "rename": o.Rename(a, d.dir+"/b"),
			} {
				if !errors.Is(err, fs.ErrPermission) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if _, err := o.OpenRW(d.dir + "/new"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file that is not there was opened: %v", err)
			}
			m, err := f.Map(10)
			if err != nil || string(m.Bytes()) != "0123456789" {
				t.Fatalf("mapped: %v", err)
			}
			if err := errors.Join(m.Close(), f.Truncate(3)); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Map(4); err == nil {
				t.Error("mapped beyond the end")
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if names, err := d.fsys.List(d.dir); err != nil || !slices.Equal(names, []string{"a"}) {
				t.Errorf("on the disk: %q, %v", names, err)
			}
		})
	}
}

func TestOverlay_theEndOfTheCheckIsTheEndOfEveryRead(t *testing.T) {
	mem := NewMem(1)
	putAll(t, mem, "a", "0123456789")
	ctx, cancel := context.WithCancel(t.Context())
	o := NewOverlay(ctx, mem)
	f, err := o.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(f); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if _, err := o.Open("a"); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

package vfstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"orbweaver/internal/vfs"
)

// RunFS runs the suite. Each story gets a fresh FS from open, in which relative names lead to an empty directory.
func RunFS(t *testing.T, open func(t *testing.T) vfs.FS) {
	stories := []struct {
		name string
		tell func(t *testing.T, fsys vfs.FS)
	}{
		{"opening", opening}, {"offsets", offsets}, {"position", position}, {"length", length}, {"names", names},
		{"missing", missing}, {"removed while open", removedWhileOpen}, {"mapping", mapping}, {"mapped length", mappedLength},
		{"locks", locks}, {"read only", readOnly}, {"closed", closed}, {"write atomic", writeAtomic},
		{"write atomic fails", writeAtomicFails}, {"concurrent", concurrent}, {"free", free},
	}
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) { s.tell(t, open(t)) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, fsys vfs.FS, name, content string) {
	t.Helper()
	f, err := fsys.Create(name)
	must(t, err)
	_, err = io.WriteString(f, content)
	must(t, errors.Join(err, f.Close()))
}

func wantContent(t *testing.T, fsys vfs.FS, name, want string) {
	t.Helper()
	got, err := vfs.ReadFile(fsys, name)
	must(t, err)
	if string(got) != want {
		t.Fatalf("%s has %q, want %q", name, got, want)
	}
}

func opening(t *testing.T, fsys vfs.FS) {
	write(t, fsys, "a", "first")
	f, err := fsys.OpenRW("a")
	must(t, err)
	if f.Name() != "a" {
		t.Errorf("name %q", f.Name())
	}
	if n, err := f.Size(); n != 5 || err != nil {
		t.Errorf("OpenRW truncated: %d, %v", n, err)
	}
	must(t, f.Close())
	write(t, fsys, "a", "x")
	wantContent(t, fsys, "a", "x")
	f, err = fsys.OpenRW("made")
	must(t, err)
	must(t, f.Close())
	wantContent(t, fsys, "made", "")
}

func offsets(t *testing.T, fsys vfs.FS) {
	f, err := fsys.Create("a")
	must(t, err)
	defer func() { _ = f.Close() }()
	_, err = f.WriteAt([]byte("tail"), 10000)
	must(t, err)
	_, err = f.WriteAt([]byte("head"), 0)
	must(t, err)
	buf := make([]byte, 8)
	if n, err := f.ReadAt(buf, 9998); n != 6 || !errors.Is(err, io.EOF) || string(buf[:6]) != "\x00\x00tail" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
	if n, err := f.ReadAt(buf[:4], 0); n != 4 || err != nil || string(buf[:4]) != "head" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
	if n, err := f.ReadAt(buf, 20000); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes behind the end, %v", n, err)
	}
	must(t, f.Sync())
}

func position(t *testing.T, fsys vfs.FS) {
	f, err := fsys.Create("a")
	must(t, err)
	_, err = io.WriteString(f, "one ")
	must(t, err)
	_, err = f.WriteAt([]byte("ONE"), 0)
	must(t, err)
	_, err = io.WriteString(f, "two")
	must(t, err)
	if n, err := f.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes at the end, %v", n, err)
	}
	must(t, f.Close())
	f, err = fsys.Open("a")
	must(t, err)
	got, err := io.ReadAll(f)
	must(t, errors.Join(err, f.Close()))
	if string(got) != "ONE two" {
		t.Errorf("%q", got)
	}
}

func length(t *testing.T, fsys vfs.FS) {
	f, err := fsys.Create("a")
	must(t, err)
	defer func() { _ = f.Close() }()
	_, err = io.WriteString(f, "0123456789")
	must(t, err)
	must(t, f.Truncate(4))
	must(t, f.Truncate(8))
	wantContent(t, fsys, "a", "0123\x00\x00\x00\x00")
	must(t, f.Allocate(2, 4))
	wantContent(t, fsys, "a", "0123\x00\x00\x00\x00")
	must(t, f.Allocate(0, 100000))
	if n, err := fsys.Size("a"); n != 100000 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	got, err := vfs.ReadFile(fsys, "a")
	must(t, err)
	if string(got[:4]) != "0123" || len(bytes.Trim(got[4:], "\x00")) != 0 {
		t.Errorf("allocating changed the content")
	}
	must(t, f.Sync())
	f.Forget(0, 0)
	f.Forget(1, 200000)
	f.Forget(300000, 1)
	if again, err := vfs.ReadFile(fsys, "a"); err != nil || !bytes.Equal(again, got) {
		t.Errorf("what the system may forget is not there any more: %d bytes, %v", len(again), err)
	}
	if err := f.Truncate(-1); err == nil {
		t.Errorf("a negative length was taken")
	}
}

func names(t *testing.T, fsys vfs.FS) {
	must(t, fsys.MkdirAll("d/e"))
	must(t, fsys.MkdirAll("d/e"))
	for _, name := range []string{"d/b", "d/a", "d/e/x", "top"} {
		write(t, fsys, name, name)
	}
	must(t, fsys.Rename("d/b", "d/a"))
	must(t, fsys.Rename("top", "d/e/y"))
	wantContent(t, fsys, "d/a", "d/b")
	wantContent(t, fsys, "d/e/y", "top")
	for dir, want := range map[string][]string{"d": {"a", "e"}, "d/e": {"x", "y"}} {
		got, err := fsys.List(dir)
		must(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", dir, got, want)
		}
		must(t, fsys.SyncDir(dir))
	}
	if err := fsys.Remove("d"); err == nil {
		t.Errorf("a directory with files in it was removed")
	}
	must(t, fsys.Remove("d/e/x"))
	must(t, fsys.Remove("d/e/y"))
	must(t, fsys.Remove("d/e"))
	if got, err := fsys.List("d"); err != nil || !slices.Equal(got, []string{"a"}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := fsys.MkdirAll("d/a/below"); err == nil {
		t.Errorf("a directory was made below a file")
	}
}

func missing(t *testing.T, fsys vfs.FS) {
	_, openErr := fsys.Open("no")
	_, createErr := fsys.Create("no/no")
	_, rwErr := fsys.OpenRW("no/no")
	_, listErr := fsys.List("no")
	_, sizeErr := fsys.Size("no")
	_, readErr := vfs.ReadFile(fsys, "no")
	for i, err := range []error{
		openErr, createErr, rwErr, listErr, sizeErr, readErr, fsys.Remove("no"), fsys.Rename("no", "yes"), fsys.SyncDir("no"),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d: %v", i, err)
		}
	}
	must(t, vfs.RemoveIfExists(fsys, "no"))
	write(t, fsys, "yes", "")
	must(t, vfs.RemoveIfExists(fsys, "yes"))
	if _, err := fsys.Size("yes"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

func removedWhileOpen(t *testing.T, fsys vfs.FS) {
	write(t, fsys, "a", "content")
	f, err := fsys.Open("a")
	must(t, err)
	if err := fsys.Remove("a"); err != nil {
		must(t, f.Close())
		t.Skipf("this system does not remove open files: %v", err)
	}
	write(t, fsys, "a", "another")
	got, err := io.ReadAll(f)
	must(t, errors.Join(err, f.Close()))
	if string(got) != "content" {
		t.Errorf("%q", got)
	}
}

func locks(t *testing.T, fsys vfs.FS) {
	l, err := fsys.Lock("lock")
	must(t, err)
	if _, err := fsys.Lock("lock"); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("second lock: %v", err)
	}
	other, err := fsys.Lock("other")
	must(t, err)
	must(t, l.Close())
	l, err = fsys.Lock("lock")
	must(t, err)
	must(t, errors.Join(l.Close(), other.Close()))
}

func readOnly(t *testing.T, fsys vfs.FS) {
	write(t, fsys, "a", "content")
	f, err := fsys.Open("a")
	must(t, err)
	defer func() { _ = f.Close() }()
	if _, err := f.Write([]byte("x")); err == nil {
		t.Errorf("wrote")
	}
	if err := f.Truncate(0); err == nil {
		t.Errorf("truncated")
	}
	wantContent(t, fsys, "a", "content")
}

func closed(t *testing.T, fsys vfs.FS) {
	f, err := fsys.Create("a")
	must(t, err)
	must(t, f.Close())
	_, writeErr := f.Write([]byte("x"))
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	for i, err := range []error{writeErr, readErr, f.Sync(), f.Close(), f.Truncate(0)} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func writeAtomic(t *testing.T, fsys vfs.FS) {
	must(t, fsys.MkdirAll("d"))
	for i := range 3 {
		text := fmt.Sprintf("version %d", i)
		must(t, vfs.WriteAtomic(fsys, "d/a", func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}))
		wantContent(t, fsys, "d/a", text)
	}
	if got, err := fsys.List("d"); err != nil || !slices.Equal(got, []string{"a"}) {
		t.Errorf("left behind: %v, %v", got, err)
	}
}

func writeAtomicFails(t *testing.T, fsys vfs.FS) {
	write(t, fsys, "a", "old")
	mistake := errors.New("no more")
	err := vfs.WriteAtomic(fsys, "a", func(w io.Writer) error {
		_, err := io.WriteString(w, "half of the n")
		return errors.Join(err, mistake)
	})
	if !errors.Is(err, mistake) {
		t.Errorf("%v", err)
	}
	wantContent(t, fsys, "a", "old")
	if got, err := fsys.List("."); err != nil || !slices.Equal(got, []string{"a"}) {
		t.Errorf("left behind: %v, %v", got, err)
	}
}

func concurrent(t *testing.T, fsys vfs.FS) {
	f, err := fsys.Create("a")
	must(t, err)
	defer func() { _ = f.Close() }()
	const workers, each = 4, 50
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range each {
				word := []byte(fmt.Sprintf("%02d:%04d;", w, i))
				if _, err := f.WriteAt(word, int64((i*workers+w)*len(word))); err != nil {
					t.Error(err)
				}
				back := make([]byte, len(word))
				if _, err := f.ReadAt(back, int64((i*workers+w)*len(word))); err != nil || !bytes.Equal(back, word) {
					t.Errorf("%q, %v", back, err)
				}
			}
		})
	}
	group.Wait()
	if n, err := f.Size(); n != workers*each*8 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
}

func free(t *testing.T, fsys vfs.FS) {
	if n, err := fsys.Free("."); n <= 0 || err != nil {
		t.Errorf("free %d, %v", n, err)
	}
	if _, err := fsys.Free("no"); err == nil {
		t.Errorf("space in a directory that is not there")
	}
}

package vfstest

import (
	"errors"
	"io"
	"testing"

	"orbweaver/internal/vfs"
)

func mapping(t *testing.T, fsys vfs.FS) {
	f, err := fsys.Create("a")
	must(t, err)
	must(t, f.Allocate(0, 3*4096))
	m, err := f.Map(2 * 4096)
	must(t, err)
	if len(m.Bytes()) != 2*4096 {
		t.Fatalf("mapped %d bytes", len(m.Bytes()))
	}
	copy(m.Bytes()[4090:], "through the mapping")
	_, err = f.WriteAt([]byte("through the file"), 5000)
	must(t, err)
	buf := make([]byte, 19)
	_, err = f.ReadAt(buf, 4090)
	must(t, err)
	if string(buf) != "through the mapping" {
		t.Errorf("the file shows %q", buf)
	}
	if got := string(m.Bytes()[5000:5016]); got != "through the file" {
		t.Errorf("the mapping shows %q", got)
	}
	must(t, m.Sync())
	must(t, f.Close())
	m.Bytes()[0] = 'x' // A mapping outlives its file.
	must(t, m.Sync())
	must(t, m.Close())

	f, err = fsys.Open("a")
	must(t, err)
	if _, err := f.Map(3*4096 + 1); err == nil {
		t.Errorf("mapped more than there is")
	}
	m, err = f.Map(3 * 4096)
	must(t, err)
	if m.Bytes()[0] != 'x' || string(m.Bytes()[5000:5016]) != "through the file" {
		t.Errorf("the content did not survive")
	}
	must(t, errors.Join(m.Close(), f.Close()))
}

// A mapped file keeps its length: on some systems shrinking it is a crash at the next touch, on others it is refused.
func mappedLength(t *testing.T, fsys vfs.FS) {
	f, err := fsys.Create("a")
	must(t, err)
	_, err = io.WriteString(f, "content")
	must(t, err)
	m, err := f.Map(7)
	must(t, err)
	if err := f.Truncate(3); err == nil {
		t.Errorf("a mapped file was cut")
	}
	if err := f.Allocate(0, 9000); err == nil {
		t.Errorf("a mapped file grew")
	}
	must(t, m.Close())
	must(t, f.Truncate(0))
	m, err = f.Map(0)
	must(t, err)
	if len(m.Bytes()) != 0 {
		t.Errorf("an empty mapping has %d bytes", len(m.Bytes()))
	}
	must(t, errors.Join(m.Sync(), m.Close(), f.Close()))
}

package crawllog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

// All files are read in order: those that were rotated, and the current one.
func TestRead_readsAllFilesInOrder(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := Open(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	l.rotateSize, l.rotateAt = 1000, 1000
	for i := range 40 {
		l.Refusal(fmt.Appendf(nil, "http://a.test/%02d", i), &queued.URL{}, outcome.Filtered, 0)
		l.Flush()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	numbers, err := Numbers(fsys, "logs")
	if err != nil || len(numbers) != 3 {
		t.Fatalf("files %v, %v", numbers, err)
	}
	var urls []string
	r, err := Read(t.Context(), fsys, "logs", Position{}, func(l *Line) error {
		urls = append(urls, string(l.URL))
		return nil
	})
	if err != nil || r.Damaged != 0 || len(urls) != 40 ||
		urls[0] != "http://a.test/00" || urls[39] != "http://a.test/39" {
		t.Errorf("%v, %d damaged, %v", err, r.Damaged, urls)
	}
	last := 0
	_, err = Read(t.Context(), fsys, "logs", Position{File: 2}, func(*Line) error { last++; return nil })
	if err != nil || last >= 40 {
		t.Errorf("from the last file on: %d lines, %v", last, err)
	}
}

// A reader of a log that is in use leaves the incomplete last line out, and says when the log was rotated under it.
func TestRead_ofALogInUse(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := Open(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	l.Refusal([]byte("http://a.test/"), &queued.URL{}, outcome.Filtered, 0)
	l.AddLines([]byte("2026-11-21T04:05:06.257Z   200 "))
	l.Flush()
	n := 0
	r, err := Read(t.Context(), fsys, "logs", Position{}, func(*Line) error { n++; return nil })
	if err != nil || n != 1 || r.Damaged != 0 {
		t.Errorf("%d lines, %d damaged, %v", n, r.Damaged, err)
	}
	l.rotateAt = 1
	_, err = Read(t.Context(), fsys, "logs", Position{}, func(*Line) error {
		l.AddLines([]byte("\n"))
		l.Flush()
		return nil
	})
	if !errors.Is(err, ErrRotated) {
		t.Errorf("rotated meanwhile: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// Whatever a damaged line holds, it is counted and does not end the reading.
func TestRead_countsDamagedLines(t *testing.T) {
	fsys := vfs.NewMem(1)
	l, err := Open(fsys, "logs", func(msg string, _ ...any) { t.Error(msg) })
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{
		"", "a b", "t 200 x http://a.test/ - - t #001 - - - ok", "t 2x0 1 http://a.test/ - - t #001 - - - ok",
		"t 200 1 http://a.test/ - - t #001 2026+x - - ok", "t 200 1 http://a.test/ - - t #001 - - - ok more",
		"t 200 1 http://a.test/" + strings.Repeat("a", 300<<10) + " - - t #001 - - - ok",
	} {
		l.AddLines([]byte(damaged + "\n"))
	}
	l.Refusal([]byte("http://a.test/"), &queued.URL{}, outcome.Filtered, 0)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	r, err := Read(t.Context(), fsys, "logs", Position{}, func(*Line) error { n++; return nil })
	if err != nil || n != 1 || r.Damaged != 7 {
		t.Errorf("%d lines, %d damaged, %v", n, r.Damaged, err)
	}
}

// FuzzParse: no bytes make it panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte("2026-11-21T04:05:06.257Z   200         12 http://a.test/ LLR - text/html #007 " +
		"20261121040506007+250 - - ok,retry"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if l, ok := Parse(b); ok {
			l.IsFinal()
			l.Location()
		}
	})
}

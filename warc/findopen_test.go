package warc

import (
	"bytes"
	"fmt"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
)

// placesOf are the offsets of a URL in open files.
func placesOf(t *testing.T, w *Writer, url string) (offsets []int64, unread bool) {
	t.Helper()
	prefix := surtOf(t, url)
	unread = w.FindOpen(prefix, func(name string, line []byte) {
		l, err := cdxj.ParseLine(line)
		if err != nil || string(l.URL) != url || name != string(l.File)+openSuffix {
			t.Fatalf("%s in %s: %v", line, name, err)
		}
		offsets = append(offsets, l.Offset)
	})
	return offsets, unread
}

// surtOf is the key of a URL in an index, with the blank behind it.
func surtOf(t *testing.T, url string) []byte {
	t.Helper()
	line := (&cdxj.Entry{URI: []byte(url)}).Append(nil)
	return line[:bytes.IndexByte(line, ' ')+1]
}

// A record in a file that is still open is found at its place, after a resume too, once its first part was read again.
func TestFindOpen_findsRecordsOfOpenFiles(t *testing.T) {
	fsys := vfs.NewMem(1)
	w := openTest(t, fsys, Gzip, 1<<30, nil)
	e := newTestEncoder(t, Gzip)
	where := map[string]Position{}
	add := func(w *Writer, from, to int) {
		for n := from; n < to; n++ {
			e.Reset()
			page(t, e, n, 100)
			pos, err := w.Append(e.Group())
			if err != nil {
				t.Fatal(err)
			}
			where[fmt.Sprintf("http://site%d.example/page/%d?q=a&n=%d", n%7, n, n)] = pos
		}
	}
	check := func(w *Writer) {
		t.Helper()
		for url, pos := range where {
			if at, unread := placesOf(t, w, url); len(at) != 1 || at[0] != pos.Offset || unread {
				t.Fatalf("%s: %v (%v), want %d", url, at, unread, pos.Offset)
			}
		}
	}
	add(w, 0, 5000)
	if len(where) < 2*findStep {
		t.Fatal("fewer lines than two steps")
	}
	check(w)
	if at, unread := placesOf(t, w, "http://site0.example/none"); len(at) > 0 || unread {
		t.Error(at, unread)
	}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	checkpoint := w.Checkpoint()
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	w = openTestLater(t, fsys, Gzip, 1<<30, &checkpoint, true)
	add(w, 5000, 5010)
	if err := w.Finish(); err != nil { // reads the first part again
		t.Fatal(err)
	}
	check(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if at, unread := placesOf(t, w, "http://site0.example/page/0?q=a&n=0"); len(at) > 0 || unread {
		t.Errorf("in closed files: %v, %v", at, unread)
	}
}

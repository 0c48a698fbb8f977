package warc

import (
	"bytes"
	"fmt"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
)

// placesOf are the offsets of a URL in open files.
func placesOf(t *testing.T, w *Writer, url string) (offsets []int64) {
	t.Helper()
	prefix := surtOf(t, url)
	open, err := w.OpenLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range open {
		for _, lines := range file.Parts {
			for i := range lines.Len() {
				if !bytes.HasPrefix(lines.Line(i), prefix) {
					continue
				}
				l, err := cdxj.ParseLine(cdxj.Complete(nil, lines.Line(i), file.Final))
				if err != nil || string(l.URL) != url || file.Name != string(l.File)+openSuffix {
					t.Fatalf("%s in %s: %v", lines.Line(i), file.Name, err)
				}
				offsets = append(offsets, l.Offset)
			}
		}
	}
	return offsets
}

// surtOf is the key of a URL in an index, with the blank behind it.
func surtOf(t *testing.T, url string) []byte {
	t.Helper()
	line := (&cdxj.Entry{URI: []byte(url)}).Append(nil)
	return line[:bytes.IndexByte(line, ' ')+1]
}

// A record in a file that is still open is found at its place, after a resume too, once its first part was read again.
func TestOpenLines_haveTheRecordsOfOpenFiles(t *testing.T) {
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
			if at := placesOf(t, w, url); len(at) != 1 || at[0] != pos.Offset {
				t.Fatalf("%s: %v, want %d", url, at, pos.Offset)
			}
		}
	}
	add(w, 0, 5000)
	check(w)
	if at := placesOf(t, w, "http://site0.example/none"); len(at) > 0 {
		t.Error(at)
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
	if at := placesOf(t, w, "http://site0.example/page/0?q=a&n=0"); len(at) > 0 {
		t.Errorf("in closed files: %v", at)
	}
}

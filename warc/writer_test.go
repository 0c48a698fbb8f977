package warc

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// A written file is a row of gzip members, each one record that names the file's warcinfo record.
func TestWriterMembers(t *testing.T) {
	fsys := vfs.NewMem(1)
	w, err := OpenWriter(fsys, Options{Dir: "w", SizeMax: 2000, Info: []Field{{"software", "x"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEncoder(EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		e.Reset()
		r := Record{Type: Response, Date: time.Now(), TargetURI: []byte("http://example.com/"),
			Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n"), []byte("hello")}, Index: &IndexInfo{Status: 200, MIME: []byte("text/html")}}
		if err := e.Append(&r); err != nil {
			t.Fatal(err)
		}
		if err := e.Append(&Record{Type: Request, Date: time.Now(), TargetURI: r.TargetURI, ConcurrentTo: r.ID,
			Block: [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n")}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := Files(fsys, "w")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := vfs.ReadFile(fsys, "w/"+f.Name)
		if err != nil {
			t.Fatal(err)
		}
		br := bytes.NewReader(b)
		z, err := gzip.NewReader(br)
		if err != nil {
			t.Fatal(err)
		}
		info := ""
		for {
			z.Multistream(false)
			text, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			_, id, _ := strings.Cut(string(text), "WARC-Record-ID: ")
			_, of, ok := strings.Cut(string(text), "WARC-Warcinfo-ID: ")
			if !ok {
				info = id[:47]
			} else if of[:47] != info {
				t.Errorf("%s: %q, want %q", f.Name, of[:47], info)
			}
			if err := z.Reset(br); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	x, _ := vfs.ReadFile(fsys, "w/"+files[0].Index())
	t.Logf("%s\n%s", files[0].Name, x)
}

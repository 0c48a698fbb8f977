package warc_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// The lines are the same from an index file and from the archive file without one. For a part of the file they are
// those of the part.
func TestScanIndex(t *testing.T) {
	fsys := vfs.NewMem(1)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "warc"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var half int64
	for i, url := range []string{"http://b.test/", "http://a.test/", "http://c.test/"} {
		enc.Reset()
		err := enc.Append(&warc.Record{Type: warc.Resource, TargetURI: []byte(url), ContentType: "text/plain",
			Index: &warc.IndexInfo{}, Block: [][]byte{[]byte("x")}})
		if err != nil {
			t.Fatal(err)
		}
		if err := enc.Pack(w); err != nil {
			t.Fatal(err)
		}
		at, err := w.Append(enc.Group())
		if err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			half = at.Offset
		}
	}
	scan := func(counts int64) (urls []string) {
		t.Helper()
		files, err := warc.Files(fsys, "warc")
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		err = warc.ScanIndex(fsys, "warc", files[0], counts, func(line []byte, said *cdxj.Line) error {
			if line[len(line)-1] != '\n' || said.Length == 0 || string(said.File) != files[0].Final() {
				t.Errorf("%q: %+v", line, said)
			}
			urls = append(urls, string(said.URL))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return urls
	}
	if got := scan(half); !slices.Equal(got, []string{"http://a.test/", "http://b.test/"}) {
		t.Errorf("of a part of an open file: %v", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"http://a.test/", "http://b.test/", "http://c.test/"}
	if got := scan(math.MaxInt64); !slices.Equal(got, want) {
		t.Errorf("from the index: %v", got)
	}
	files, err := warc.Files(fsys, "warc")
	if err != nil {
		t.Fatal(err)
	}
	index := "warc/" + files[0].Index()
	if err := fsys.Remove(index); err != nil {
		t.Fatal(err)
	}
	if got := scan(math.MaxInt64); !slices.Equal(got, want) {
		t.Errorf("from the file: %v", got)
	}
	if err := vfs.WriteAtomic(fsys, index, func(w io.Writer) error {
		_, err := io.WriteString(w, "no line\n")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := warc.ScanIndex(fsys, "warc", files[0], math.MaxInt64, nil); !errors.Is(err, cdxj.ErrLine) {
		t.Errorf("a damaged index: %v", err)
	}
}

// A fingerprint of the text, and that a browser must draw it, are in the line of the record, also if the line is made
// from the record.
func TestWriteIndex_hasFactsOfThePage(t *testing.T) {
	const hash = "00c0ffee00c0ffee"
	fsys := vfs.NewMem(1)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "warc"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := enc.Append(&warc.Record{
		Type: warc.Resource, TargetURI: []byte("http://a.test/"), ContentType: "text/plain", Block: [][]byte{[]byte("x")},
		Date:  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Lines: []byte(warc.SimHashField + ": " + hash + "\r\n" + warc.RenderField + ": 7\r\n"), Index: &warc.IndexInfo{
			MIME: []byte("text/plain"), SimHash: []byte(hash), Render: []byte("7"),
		},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(enc.Group()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := warc.Files(fsys, "warc")
	if err != nil {
		t.Fatal(err)
	}
	index, err := vfs.ReadFile(fsys, "warc/"+files[0].Index())
	if err != nil {
		t.Fatal(err)
	}
	var made bytes.Buffer
	err = warc.ReadFile(fsys, "warc", files[0], math.MaxInt64, warc.ReaderOptions{}, func(z *warc.Reader) error {
		return warc.WriteIndex(&made, z, files[0].Final(), warc.StopAtDamage)
	})
	if err != nil || !bytes.Equal(made.Bytes(), index) ||
		!bytes.Contains(index, []byte(`"simhash":"`+hash+`","needs_render":"7"`)) {
		t.Errorf("%s\nand made from the record\n%s, %v", index, &made, err)
	}
}

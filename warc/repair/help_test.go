package repair

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

func newTestEncoder(t testing.TB, c warc.Compression, dictionary []byte) *warc.Encoder {
	t.Helper()
	e, err := warc.NewEncoder(warc.EncoderOptions{Compression: c, Dictionary: dictionary})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openTest(t testing.TB, fsys vfs.FS, c warc.Compression, dictionary []byte) *warc.Writer {
	t.Helper()
	o := warc.Options{Dir: "warc", Prefix: "test-crawl", Host: "h", Compression: c, Dictionary: dictionary}
	o.Info = []warc.Field{{Name: "software", Value: "orbweaver"}}
	w, err := warc.OpenWriter(fsys, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// appendPage adds the records of one attempt to a group: a response, its request and a metadata record. Every fifth
// response is a revisit.
func appendPage(t testing.TB, e *warc.Encoder, n, size int) {
	t.Helper()
	uri := fmt.Appendf(nil, "http://site%d.example/page/%d?q=a&n=%d", n%7, n, n)
	date := time.Date(2026, 11, 21, 12, 0, n, 0, time.UTC)
	body := fmt.Appendf(nil, "<p>page %d, ", n)
	for i := 0; len(body) < size; i++ {
		body = fmt.Appendf(body, "word %d of %d ", i*i*n%977, n)
	}
	digest := sha1.Sum(body)
	r := warc.Record{Type: warc.Response, Date: date, TargetURI: uri, PayloadDigest: &digest,
		Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"), body},
		Index: &warc.IndexInfo{Status: 200, MIME: []byte("text/html")}}
	if n%5 == 4 {
		r.Type, r.RefersToURI, r.RefersToDate, r.Block = warc.Revisit, "http://site0.example/", date, r.Block[:1]
	}
	appendRecord(t, e, &r)
	appendRecord(t, e, &warc.Record{Type: warc.Request, Date: date, TargetURI: uri, ConcurrentTo: r.ID,
		Block: [][]byte{[]byte("GET / HTTP/1.1\r\nHost: site.example\r\n\r\n")}})
	appendRecord(t, e, &warc.Record{Type: warc.Metadata, Date: date, TargetURI: uri, ConcurrentTo: r.ID,
		Block: [][]byte{[]byte("fetchTimeMs: 12\r\n")}})
}

func appendRecord(t testing.TB, e *warc.Encoder, r *warc.Record) {
	t.Helper()
	if err := e.Append(r); err != nil {
		t.Fatal(err)
	}
}

// writePages appends n pages and returns their positions.
func writePages(t testing.TB, w *warc.Writer, e *warc.Encoder, n, size int) (places []warc.Position) {
	t.Helper()
	for i := range n {
		e.Reset()
		appendPage(t, e, i, size)
		pos, err := w.Append(e.Group())
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, pos)
	}
	return places
}

// sample returns a file with two pages.
func sample(t testing.TB, c warc.Compression) []byte {
	t.Helper()
	mem := vfs.NewMem(1)
	w := openTest(t, mem, c, nil)
	writePages(t, w, newTestEncoder(t, c, nil), 2, 200)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return mustRead(t, mem, "warc/"+onlyFile(t, mem).Name)
}

// trained is a dictionary for the records of pages.
func trained(t testing.TB) []byte {
	t.Helper()
	e := newTestEncoder(t, warc.None, nil)
	var samples [][]byte
	for n := range 300 {
		e.Reset()
		appendPage(t, e, n, 1500)
		for i := range e.Group().Len() {
			at, length := e.Group().Record(i)
			samples = append(samples, bytes.Clone(e.Group().Bytes()[at:at+length]))
		}
	}
	d, err := member.TrainDictionary(samples, 16<<10)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// mustRead gives a file's bytes.
func mustRead(t testing.TB, fsys vfs.FS, name string) []byte {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// verifyDir verifies all files of an archive as one, and fails the test on any fault.
func verifyDir(t testing.TB, fsys vfs.FS) warc.Report {
	t.Helper()
	files, err := warc.Files(fsys, "warc")
	if err != nil {
		t.Fatal(err)
	}
	v := warc.NewVerifier(warc.VerifyOptions{OnFault: func(f *warc.Fault) { t.Error(f) }})
	for _, f := range files {
		if err := v.File(f.Name, bytes.NewReader(mustRead(t, fsys, "warc/"+f.Name))); err != nil {
			t.Fatal(err)
		}
	}
	return v.Finish()
}

// checkIndexes compares the index beside each finished file with one made by reading the file.
func checkIndexes(t testing.TB, fsys vfs.FS) {
	t.Helper()
	files, err := warc.Files(fsys, "warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Open {
			continue
		}
		var want bytes.Buffer
		z := warc.NewReader(bytes.NewReader(mustRead(t, fsys, "warc/"+f.Name)), warc.ReaderOptions{Name: f.Name})
		if err := warc.WriteIndex(&want, z, f.Name, warc.StopAtDamage); err != nil {
			t.Fatal(err)
		}
		z.Close()
		if got := mustRead(t, fsys, "warc/"+f.Index()); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s:\n%s\nby reading:\n%s", f.Index(), got, want.Bytes())
		}
	}
}

// readAll reads all records with their blocks, and the faults between them.
func readAll(t testing.TB, b []byte, o warc.ReaderOptions) (recs []warc.RecordRead, faults []error) {
	t.Helper()
	z := warc.NewReader(bytes.NewReader(b), o)
	defer z.Close()
	for {
		rec, err := z.Next()
		if err == nil {
			_, err = rec.ReadBlock(1 << 30)
		}
		if err == io.EOF {
			return recs, faults
		}
		var f *warc.Fault
		if err != nil && !errors.As(err, &f) {
			t.Fatal(err)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		recs = append(recs, *rec)
	}
}

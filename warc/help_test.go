package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// testDate is a date with a fraction that microseconds hold exactly.
func testDate(n int) time.Time {
	return time.Date(2026, 11, 21, 12, 0, 0, 123456000, time.UTC).Add(time.Duration(n) * 1500 * time.Millisecond)
}

func newTestEncoder(t testing.TB, c Compression) *Encoder {
	t.Helper()
	e, err := NewEncoder(EncoderOptions{Compression: c})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// page appends the records of one attempt: a response, its request and a metadata record. Its URI carries n.
func page(t testing.TB, e *Encoder, n, size int) {
	t.Helper()
	uri := fmt.Appendf(nil, "http://site%d.example/page/%d?q=a&n=%d", n%7, n, n)
	head := []byte("HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n")
	body := text(uint64(n), size)
	digest := sha1Of(body)
	r := Record{Type: Response, Date: testDate(n), TargetURI: uri, IP: netip.MustParseAddr("192.0.2.7"),
		PayloadDigest: &digest,
		Block:         [][]byte{head, body}, Index: &IndexInfo{Status: 200, MIME: []byte("Text/HTML")}}
	if n%5 == 4 {
		r.Type, r.RefersToURI, r.RefersToDate, r.Block = Revisit, "http://site0.example/", testDate(0), r.Block[:1]
	}
	appendRecord(t, e, &r)
	appendRecord(t, e, &Record{Type: Request, Date: testDate(n), TargetURI: uri, ConcurrentTo: r.ID,
		Block: [][]byte{[]byte("GET / HTTP/1.1\r\nHost: site.example\r\n\r\n")}})
	appendRecord(t, e, &Record{Type: Metadata, Date: testDate(n), TargetURI: uri, ConcurrentTo: r.ID,
		Block: [][]byte{[]byte("fetchTimeMs: 12\r\n")}})
}

func appendRecord(t testing.TB, e *Encoder, r *Record) {
	t.Helper()
	if err := e.Append(r); err != nil {
		t.Fatal(err)
	}
}

// text is repeatable text of about English entropy.
func text(seed uint64, size int) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("the orb weaver spins its web as a ring and waits for what the wind brings " +
		"<p> </p> <a href=/x>link</a>")
	var b []byte
	for len(b) < size {
		b = append(append(b, words[rng.IntN(len(words))]...), ' ')
		if rng.IntN(8) == 0 {
			b = fmt.Appendf(b, "%d ", rng.Uint32())
		}
	}
	return b[:size]
}

// openTest opens a Writer on small files.
func openTest(t testing.TB, fsys vfs.FS, c Compression, size int64, checkpoint *Checkpoint) *Writer {
	t.Helper()
	return openTestLater(t, fsys, c, size, checkpoint, false)
}

// openTestLater is openTest with a choice of FinishLater.
func openTestLater(t testing.TB, fsys vfs.FS, c Compression, size int64, checkpoint *Checkpoint, later bool) *Writer {
	t.Helper()
	w, err := OpenWriter(fsys, Options{Dir: "warc", Prefix: "test-crawl", Host: "h", SizeMax: size, Compression: c,
		FinishLater: later,
		Info:        []Field{{"software", "orbweaver"}, {"format", "WARC File Format 1.1"}}}, checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	return w
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
func verifyDir(t testing.TB, fsys vfs.FS) Report {
	t.Helper()
	files, err := Files(fsys, "warc")
	if err != nil {
		t.Fatal(err)
	}
	v := NewVerifier(VerifyOptions{OnFault: func(f *Fault) { t.Error(f) }})
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
	files, err := Files(fsys, "warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Open {
			continue
		}
		var want bytes.Buffer
		z := NewReader(bytes.NewReader(mustRead(t, fsys, "warc/"+f.Name)), ReaderOptions{Name: f.Name})
		if err := WriteIndex(&want, z, f.Name, StopAtDamage); err != nil {
			t.Fatal(err)
		}
		z.Close()
		if got := mustRead(t, fsys, "warc/"+f.Index()); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s:\n%s\nby reading:\n%s", f.Index(), got, want.Bytes())
		}
	}
}

// readAll reads all records with their blocks, and the faults between them.
func readAll(t testing.TB, b []byte, o ReaderOptions) (recs []RecordRead, faults []error) {
	t.Helper()
	z := NewReader(bytes.NewReader(b), o)
	defer z.Close()
	for {
		rec, err := z.Next()
		if err == nil {
			_, err = rec.ReadBlock(1 << 30)
		}
		if err == io.EOF {
			return recs, faults
		}
		var f *Fault
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

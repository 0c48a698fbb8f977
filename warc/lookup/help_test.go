package lookup

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// began is the time of the first capture of all tests.
var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// stored is an archive that a test writes.
type stored struct {
	*warc.Writer

	t     testing.TB
	fsys  vfs.FS
	encod *warc.Encoder
	clock time.Time
}

func newStored(t *testing.T, fsys vfs.FS, o warc.Options) *stored {
	t.Helper()
	w, err := warc.OpenWriter(fsys, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &stored{Writer: w, t: t, fsys: fsys, encod: newEncoder(t), clock: began}
}

func newEncoder(t testing.TB) *warc.Encoder {
	t.Helper()
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// store appends a record, each a second after the one before.
func (s *stored) store(r warc.Record, block string) warc.Position {
	s.t.Helper()
	r.Block, r.Date = [][]byte{[]byte(block)}, s.clock
	s.clock = s.clock.Add(time.Second)
	s.encod.Reset()
	if err := s.encod.Append(&r); err != nil {
		s.t.Fatal(err)
	}
	pos, err := s.Append(s.encod.Group())
	if err != nil {
		s.t.Fatal(err)
	}
	return pos
}

// page stores an answer of a server.
func (s *stored) page(url, body string) warc.Position {
	s.t.Helper()
	return s.store(warc.Record{
		Type: warc.Response, TargetURI: []byte(url), Index: &warc.IndexInfo{Status: 200, MIME: []byte("text/html")},
	}, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+body)
}

func (s *stored) close() {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// urls lists the URLs of a range, each with its time.
func urls(t *testing.T, lines Lines, r Range) (found []string) {
	t.Helper()
	if err := lines.Scan(t.Context(), r, func(line []byte) error {
		c, err := ParseCapture(line)
		found = append(found, c.Stamp+" "+string(c.URL))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// everything is the range of all lines.
func everything() Range { return Range{nil, []byte{0xff}} }

// archiveName is the name of the only file of dir that ends so.
func archiveName(t *testing.T, fsys vfs.FS, dir, suffix string) string {
	t.Helper()
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, suffix) })
	if i < 0 {
		t.Fatalf("no %s in %q", suffix, names)
	}
	return dir + "/" + names[i]
}

func numbered(n int) string { return fmt.Sprintf("http://h%d.test/a/%04d", n%7, n) }

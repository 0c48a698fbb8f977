package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // digests of payloads
	"encoding/base32"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// bomb is a file that is small, or has many parts, and may cost much.
type bomb struct {
	name         string // in docs/security.md
	small, large int    // how many bytes or parts it has
	// write makes the file in a directory of WARC files, and returns its name.
	write func(t *testing.T, dir string, size int) string
}

// bombs are all of them.
func bombs() []bomb {
	const page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	return []bomb{
		{"one byte repeated", 64 << 20, 10 << 30, inMembers(func(w *memberWriter, size int) {
			w.record("response", 1, page, io.LimitReader(repeated("a"), int64(size)), size)
		})},
		{"small records", 10_000, 1_000_000, inMembers(func(w *memberWriter, size int) {
			for n := range size {
				text := fmt.Sprintf("<title>%d</title><a href=/%d>words %d</a>", n, n+1, n)
				w.record("response", n, page, strings.NewReader(text), len(text), payloadDigestField(text))
			}
		})},
		{"a header line", 16 << 20, 64 << 20, inMembers(func(w *memberWriter, size int) {
			w.record("response", 1, page, strings.NewReader("a"), 1, "X: "+strings.Repeat("a", size))
		})},
		{"revisits", 10_000, 1_000_000, inMembers(func(w *memberWriter, size int) {
			for n := range size {
				w.record("revisit", n, page, strings.NewReader(""), 0, payloadDigestField("one"),
					"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
					fmt.Sprintf("WARC-Refers-To-Target-URI: http://b.test/%d", n),
					"WARC-Refers-To-Date: 2019-01-02T03:04:05Z")
			}
		})},
		{"pages of tags", 1, 64, inMembers(func(w *memberWriter, size int) {
			for n := range size {
				w.record("response", n, page, io.LimitReader(repeated("<a href=/x>x </a><b>"), 16<<20), 16<<20)
			}
		})},
		{"a long index line", 4 << 20, 40 << 20, longIndexLine},
		{"a large ZIP directory", 20_000, 500_000, inWACZ(0, false)},
		{"small files in a WACZ", 500, 30_000, inWACZ(1, false)},
		{"a WACZ index in one line", 4 << 20, 40 << 20, inWACZ(1, true)},
	}
}

// repeated reads a text without an end.
type repeated string

func (r repeated) Read(b []byte) (int, error) {
	n := 0
	for n == 0 || n+len(r) <= len(b) {
		n += copy(b[n:], r)
	}
	return n, nil
}

func payloadDigestField(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return "WARC-Payload-Digest: sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// memberWriter writes records, one in a gzip member.
type memberWriter struct {
	to *bufio.Writer
	z  *gzip.Writer
}

// record writes the record number n, whose HTTP body has so many bytes.
func (w *memberWriter) record(kind string, n int, head string, body io.Reader, size int, fields ...string) {
	w.z.Reset(w.to) // errors are seen when the file is flushed
	fmt.Fprintf(w.z, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n"+
		"WARC-Date: 2020-01-02T03:04:05Z\r\nWARC-Target-URI: http://a.test/%d\r\n"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n", kind, n, n, len(head)+size)
	for _, f := range fields {
		_, _ = io.WriteString(w.z, f+"\r\n")
	}
	_, _ = io.WriteString(w.z, "\r\n"+head)
	_, _ = io.Copy(w.z, body)
	_, _ = io.WriteString(w.z, "\r\n\r\n")
	_ = w.z.Close()
}

// inMembers makes a .warc.gz.
func inMembers(fill func(w *memberWriter, size int)) func(t *testing.T, dir string, size int) string {
	return func(t *testing.T, dir string, size int) string {
		t.Helper()
		name := filepath.Join(dir, "a.warc.gz")
		create(t, name, func(to *bufio.Writer) {
			z, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
			if err != nil {
				t.Fatal(err)
			}
			fill(&memberWriter{to, z}, size)
		})
		return name
	}
}

// create writes a file.
func create(t *testing.T, name string, fill func(to *bufio.Writer)) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	to := bufio.NewWriterSize(f, 1<<20)
	fill(to)
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// onePageMember is a member with a page.
func onePageMember() []byte {
	var b bytes.Buffer
	to := bufio.NewWriter(&b)
	w := memberWriter{to, gzip.NewWriter(to)}
	w.record("response", 1, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", strings.NewReader("words"), len("words"))
	_ = to.Flush()
	return b.Bytes()
}

// indexLine is a line of an index, of so many bytes.
func indexLine(to io.Writer, size int) {
	_, _ = io.WriteString(to, `test,a)/1 20200102030405 {"url":"http://a.test/1","mime":"text/html","status":"200","x":"`)
	_, _ = io.Copy(to, io.LimitReader(repeated("a"), int64(size)))
	_, _ = io.WriteString(to, `","length":"150","offset":"0","filename":"a.warc.gz"}`+"\n")
}

// longIndexLine makes a WARC file with an index of one line.
func longIndexLine(t *testing.T, dir string, size int) string {
	t.Helper()
	name := filepath.Join(dir, "a.warc.gz")
	create(t, name, func(to *bufio.Writer) { _, _ = to.Write(onePageMember()) })
	create(t, filepath.Join(dir, "a.cdxj"), func(to *bufio.Writer) { indexLine(to, size) })
	return name
}

// inWACZ makes a WACZ. It has WARC files with so many pages each, and their number is its size. With longIndex it has
// one file, and an index of one line of this size.
func inWACZ(pages int, longIndex bool) func(t *testing.T, dir string, size int) string {
	return func(t *testing.T, dir string, size int) string {
		t.Helper()
		name, files := filepath.Join(dir, "a.wacz"), size
		if longIndex {
			files = 1
		}
		create(t, name, func(to *bufio.Writer) {
			z := zip.NewWriter(to)
			part := func(name string, method uint16) io.Writer {
				w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			page := bytes.Repeat(onePageMember(), pages)
			for n := range files {
				_, _ = part(fmt.Sprintf("archive/%d.warc.gz", n), zip.Store).Write(page)
			}
			if longIndex {
				indexLine(part("indexes/index.cdx", zip.Deflate), size)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
		})
		return name
	}
}

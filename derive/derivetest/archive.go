// Package derivetest makes small WARC files for the tests of products: records as any crawler may write them.
//
// It knows no product. It shares no code with the writer of package warc, so that a test also shows that files of
// others are read.
package derivetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"testing"

	"orbweaver/internal/vfs"
)

// Archive is a WARC file in memory: one gzip member for each record.
type Archive struct {
	bytes.Buffer

	records int
	starts  []int
}

// Record adds a record. fields are further header lines, "Name: value".
func (a *Archive) Record(kind, target, contentType, block string, fields ...string) {
	a.records++
	var text bytes.Buffer
	fmt.Fprintf(&text, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Record-ID: %s\r\n", kind, a.ID(a.records))
	fmt.Fprintf(&text, "WARC-Date: 2026-01-02T03:04:%02dZ\r\n", a.records%60)
	if target != "" {
		fmt.Fprintf(&text, "WARC-Target-URI: %s\r\n", target)
	}
	for _, f := range fields {
		text.WriteString(f + "\r\n")
	}
	fmt.Fprintf(&text, "Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", contentType, len(block), block)
	a.starts = append(a.starts, a.Len())
	z := gzip.NewWriter(&a.Buffer)
	_, _ = z.Write(text.Bytes()) // a Buffer does not fail
	_ = z.Close()
}

// Place is where a record lies in the file, in bytes.
type Place struct{ Offset, Length int64 }

// Places returns the places of all records.
func (a *Archive) Places() (all []Place) {
	for i, start := range a.starts {
		end := a.Len()
		if i+1 < len(a.starts) {
			end = a.starts[i+1]
		}
		all = append(all, Place{int64(start), int64(end - start)})
	}
	return all
}

// ID returns the identity of record number n, from 1.
func (*Archive) ID(n int) string { return fmt.Sprintf("<urn:uuid:00000000-0000-4000-8000-%012d>", n) }

// Response adds the response to a GET request. fields are lines of its head.
func (a *Archive) Response(target string, status int, contentType, body string, fields ...string) {
	head := fmt.Sprintf("HTTP/1.1 %d Text\r\nContent-Type: %s\r\n", status, contentType)
	for _, f := range fields {
		head += f + "\r\n"
	}
	a.Record("response", target, "application/http;msgtype=response", head+"\r\n"+body,
		"WARC-Payload-Digest: sha1:"+fmt.Sprintf("%032d", a.records))
}

// Damage overwrites bytes in the middle of record number n, from 1.
func (a *Archive) Damage(n int) {
	b := a.Bytes()[a.starts[n-1]:]
	for i := 30; i < 50; i++ {
		b[i] ^= 0x55
	}
}

// Put writes a file.
func Put(tb testing.TB, fsys vfs.FS, name string, content []byte) {
	tb.Helper()
	err := vfs.WriteAtomic(fsys, name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// Get reads a file.
func Get(tb testing.TB, fsys vfs.FS, name string) []byte {
	tb.Helper()
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

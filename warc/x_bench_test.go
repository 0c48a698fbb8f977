package warc

import (
	"crypto/sha1"
	"io"
	"testing"

	"github.com/klauspost/compress/flate"

	"orbweaver/internal/vfs"
)

// One page of 16 KiB: response and request are compressed and appended. The single steps are measured for comparison.
func BenchmarkPage(b *testing.B) {
	body := text(1, 16<<10)
	digest := sha1Of(body)
	uri := []byte("http://www.example.com/some/path/page.html?id=12345")
	head := []byte("HTTP/1.1 200 OK\r\nServer: x\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\n" +
		"Content-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n")
	request := []byte("GET /some/path/page.html?id=12345 HTTP/1.1\r\nHost: www.example.com\r\n" +
		"User-Agent: orbweaver/1 (+http://example.org/)\r\nConnection: close\r\n\r\n")
	block, ask := [][]byte{head, body}, [][]byte{request}
	info := IndexInfo{Status: 200, MIME: []byte("text/html")}
	for _, c := range []Compression{Gzip, Zstd, None} {
		b.Run(c.String(), func(b *testing.B) {
			e := newTestEncoder(b, c)
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			var r, q Record
			for b.Loop() {
				e.Reset()
				r = Record{Type: Response, Date: testDate(0), TargetURI: uri, PayloadDigest: &digest, Block: block, Index: &info}
				q = Record{Type: Request, Date: testDate(0), TargetURI: uri, ConcurrentTo: r.ID, Block: ask}
				if e.Append(&r) != nil || e.Append(&q) != nil {
					b.Fatal("append")
				}
			}
			b.ReportMetric(float64(e.Group().Size()), "stored-bytes")
		})
	}
	b.Run("bare-deflate", func(b *testing.B) {
		z, err := flate.NewWriter(io.Discard, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			for _, part := range [][]byte{head, body} {
				if _, err := z.Write(part); err != nil {
					b.Fatal(err)
				}
			}
			z.Close()
			z.Reset(io.Discard)
			z.Write(request)
			z.Close()
			z.Reset(io.Discard)
		}
	})
	b.Run("bare-sha1", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			sha1.Sum(body)
		}
	})
}

// Naming the warcinfo record in a packed group, and appending it to memory.
func BenchmarkAppend(b *testing.B) {
	e := newTestEncoder(b, Gzip)
	page(b, e, 1, 16<<10)
	b.Run("stamp", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.Group().stamp(ID{1})
		}
	})
	b.Run("append", func(b *testing.B) {
		w := openTest(b, vfs.NewMem(1), Gzip, 1<<26, nil)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.Append(e.Group()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Reading records back: headers only, and with digests checked.
func BenchmarkReader(b *testing.B) {
	file := sample(b, Gzip, 300)
	for name, o := range map[string]ReaderOptions{"lenient": {}, "strict": strict()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				if _, faults := readAll(b, file, o); len(faults) > 0 {
					b.Fatal(faults)
				}
			}
		})
	}
}

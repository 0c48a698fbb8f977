package recrawl

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// writeArchive writes an archive with pages of 16 KB to dir. It returns the end of the archive and the URLs.
func writeArchive(b testing.TB, fsys vfs.FS, dir string, pages int) (end warc.Checkpoint, urls [][]byte) {
	b.Helper()
	for _, sub := range []string{layout.ArchiveDir, layout.FrontierDir} {
		if err := fsys.MkdirAll(dir + "/" + sub); err != nil {
			b.Fatal(err)
		}
	}
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: dir + "/" + layout.ArchiveDir}, nil)
	if err != nil {
		b.Fatal(err)
	}
	enc, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	body := make([]byte, 16<<10)
	for n := range pages {
		for i := range body {
			body[i] = "abcdefghijklmnop<>\n "[rng.IntN(20)]
		}
		enc.Reset()
		url := fmt.Appendf(nil, "http://h%d.example/page/%d", n%100, n)
		urls = append(urls, url)
		head := fmt.Appendf(
			nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"%d\"\r\nContent-Length: %d\r\n\r\n", n, len(body),
		)
		err := enc.Append(&warc.Record{
			Type: warc.Response, Date: time.Now(), TargetURI: url, Index: &warc.IndexInfo{Status: 200},
			Block: [][]byte{head, body},
		})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Append(enc.Group()); err != nil {
			b.Fatal(err)
		}
	}
	end = w.Checkpoint()
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return end, urls
}

// BenchmarkPreviousCrawl measures what a recrawl adds: per capture when the pass begins, per page before its request,
// and per unchanged page.
func BenchmarkPreviousCrawl(b *testing.B) {
	const pages = 20_000
	fsys, dir := vfs.Disk(), b.TempDir()
	end, urls := writeArchive(b, fsys, dir, pages)
	warn := func(string, ...any) { b.Error("a capture cannot be read") }
	pass := &Pass{FS: fsys, Dir: dir, Number: 1, HashSeed: 7, ArchiveEnd: end, Warn: warn}
	index, err := pass.WriteIndex()
	if err != nil || index.Entries != pages {
		b.Fatal(index, err)
	}
	b.Run("index", func(b *testing.B) {
		for range b.N {
			if _, err := pass.WriteIndex(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pages, "ns/page")
	})
	previous, _, err := pass.Open(&index)
	if err != nil {
		b.Fatal(err)
	}
	defer previous.Close()
	rng := rand.New(rand.NewPCG(2, 2))
	var c Condition
	b.Run("condition", func(b *testing.B) {
		for range b.N {
			if !previous.FillCondition(&c, urls[rng.IntN(pages)]) {
				b.Fatal("no condition")
			}
		}
	})
	b.Run("condition-unknown", func(b *testing.B) {
		for range b.N {
			if previous.FillCondition(&c, []byte("http://h.example/new")) {
				b.Fatal("a condition for an unknown URL")
			}
		}
	})
	b.Run("condition-and-page", func(b *testing.B) {
		for range b.N {
			previous.FillCondition(&c, urls[rng.IntN(pages)])
			if previous.ReadPage(&c.Previous, []byte(c.Previous.URI)) == nil {
				b.Fatal("no page")
			}
		}
	})
}

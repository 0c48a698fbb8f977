package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"orbweaver/engine/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// heldArchive makes an archive of so many pages of some 16 KB in dir, and gives its end and the URLs.
func heldArchive(b *testing.B, fsys vfs.FS, dir string, pages int) (end warc.Cut, urls [][]byte) {
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
		head := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"%d\"\r\nContent-Length: %d\r\n\r\n", n, len(body))
		err := enc.Append(&warc.Record{
			Type: warc.Response, Date: time.Now(), TargetURI: url, Index: &warc.IndexInfo{Status: 200}, Block: [][]byte{head, body},
		})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Append(enc.Group()); err != nil {
			b.Fatal(err)
		}
	}
	end = w.Cut()
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return end, urls
}

// BenchmarkHoldings measures what a refresh adds: per stored page at the turn-over, per page before it is asked for,
// and per unchanged page.
func BenchmarkHoldings(b *testing.B) {
	const pages = 20_000
	fsys, dir := vfs.Disk(), b.TempDir()
	end, urls := heldArchive(b, fsys, dir, pages)
	say := func(string, ...any) { b.Error("something cannot be read") }
	m := &manifest{Pass: 1, HashSeed: 7, From: end}
	cut, err := listArchive(fsys, dir, m, say)
	if err != nil || cut.Entries != pages {
		b.Fatal(cut, err)
	}
	m.Earlier = &cut
	b.Run("list", func(b *testing.B) {
		for range b.N {
			if _, err := listArchive(fsys, dir, m, say); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pages, "ns/page")
	})
	h, err := openHoldings(fsys, dir, m, say)
	if err != nil {
		b.Fatal(err)
	}
	defer h.close()
	rng := rand.New(rand.NewPCG(2, 2))
	var q question
	b.Run("ask", func(b *testing.B) {
		for range b.N {
			if !h.ask(&q, urls[rng.IntN(pages)]) {
				b.Fatal("nothing to ask")
			}
		}
	})
	b.Run("ask-unknown", func(b *testing.B) {
		for range b.N {
			if h.ask(&q, []byte("http://h.example/new")) {
				b.Fatal("something to ask")
			}
		}
	})
	b.Run("ask-and-page", func(b *testing.B) {
		for range b.N {
			h.ask(&q, urls[rng.IntN(pages)])
			if h.page(&q.before, []byte(q.before.URI)) == nil {
				b.Fatal("no page")
			}
		}
	})
}

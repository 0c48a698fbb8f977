package parsers

import (
	"bytes"
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/attempt"
	"orbweaver/internal/outcome"
)

// BenchmarkShow measures what a page of 32 KiB with 50 links costs that is given to the function of a library.
func BenchmarkShow(b *testing.B) {
	g := newMemoRig()
	body := bytes.Repeat([]byte("<a href=/one/page.html>text</a>"), 50)
	body = append(body, make([]byte, 32<<10-len(body))...)
	a := attempt.Attempt{URL: []byte("http://a.test/p"), Outcome: outcome.OK}
	p, ok := fetch.Stored(a.URL, append([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"), body...))
	if !ok {
		b.Fatal("no page")
	}
	g.extract(p, p, &a)
	links := 0
	w := &Worker{crawl: g.crawl, links: g.extractor}
	w.crawl.OnPage = func(p *SeenPage) { links = len(p.Links) }
	b.ReportAllocs()
	for b.Loop() {
		w.show(p, &a, &recordPlan{isPage: true})
	}
	if links != 50 {
		b.Errorf("%d links", links)
	}
}

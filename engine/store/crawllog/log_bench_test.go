package crawllog

import (
	"testing"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/state/attempt"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

// The cost of the line of a page. It allocates nothing.
func BenchmarkAttempt(b *testing.B) {
	l, err := Open(vfs.NewMem(1), "logs", func(string, ...any) {})
	if err != nil {
		b.Fatal(err)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
	at := time.Now()
	p := &fetch.Page{
		Status: 200, HeadLen: len(head), PayloadLen: 12_345, Complete: true, Raw: []byte(head),
		Times: fetch.Times{Started: at, Ended: at.Add(250 * time.Millisecond)},
	}
	a := &attempt.Attempt{
		URL: []byte("http://www.example.org/a/path/page.html"), Outcome: outcome.OK,
		Exchange: attempt.Exchange{Worker: 7},
	}
	a.Depth = 4
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if l.Attempt(p, a, coding.OK, "duplicate:digest"); n%1000 == 999 {
			b.StopTimer()
			l.mu.Lock()
			l.pending = l.pending[:0]
			l.mu.Unlock()
			b.StartTimer()
		}
	}
}

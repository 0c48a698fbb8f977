package engine

import (
	"testing"

	"orbweaver/engine/fetch"
	"orbweaver/warc"
)

// storedHeads are heads that two readers may take for different things.
var storedHeads = []string{
	"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nbody", "http/1.1 200 ok\r\nContent-Type: text/html\r\n\r\n",
	"icy 200 OK\n\n",
	"HTTP/1.1 200OK\r\n\r\n", "HTTP/1.1  20\r\n\r\n", "HTTP/ 999 x\r\n\r\n", "HTTP/1.1\t404\r\n\r\n",
	"HTTP/1.1 000 x\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Type: text/\r\n html\r\n\t\r\n\r\n", "HTTP/1.1 200 OK\r\n Content-Type: text/html\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nX\r\n Content-Type: c/d\r\n\r\n",
	"HTTP/1.1 200 OK\r\n:Content-Type: a/b\r\nContent-Type : c/d\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Type:\xc2\xa0text/html\x0b\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Type: a\r\nContent-Type: b\r\n\r\n",
}

// A checked or rebuilt index says of a response what the crawl said when it came: the archive's reader of heads and
// that of the wire find the same status and type.
func FuzzStoredHead(f *testing.F) {
	for _, head := range storedHeads {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		p, ok := fetch.Stored([]byte("http://a.example/"), block)
		if !ok || len(p.Interim) > 0 || len(p.Head()) > 1<<16 {
			return
		}
		rec := &warc.RecordRead{Type: warc.Response, Block: p.Raw}
		h, _, err := rec.HTTP(false)
		if err != nil {
			t.Fatal(err)
		}
		head := p.Head()
		archived, wired := h.Get("Content-Type"), string(head.ContentType())
		if h.Status != p.Status || archived != wired || string(h.Raw) != string(head) {
			t.Errorf("%q: the archive has %d %q, the wire had %d %q", head, h.Status, archived, p.Status, wired)
		}
	})
}

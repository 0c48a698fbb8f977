package engine

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/warc"
	"orbweaver/warc/block"
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
	"\xef\xbb\xbfHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", "1\n\n4HTTP 404\nContent-Type: a/b\n\nbody",
	"HTTP/1.1 200\rOK\r\nX: y\rContent-Type: a/b\r\n\r\r\nY: z\r\n\r\n", "HTTP/1.1 OK\r\n\r\n",
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
		archived, wired := h.ContentType(), string(head.ContentType())
		if h.Status != p.Status || archived != wired || string(h.Raw) != string(head) {
			t.Errorf("%q: the archive has %d %q, the wire had %d %q", head, h.Status, archived, p.Status, wired)
		}
	})
}

// A chunked body has the same payload for the archive's reader as it had on the wire, or else its digest would not
// verify: whatever size lines look like, and wherever the chunking is broken. Only a body that does not start as a
// chunked one is read as it is: archives of others have such bodies.
func TestStoredChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		"0\r\n\r\n", "5\r\nhello\r\n", "5\nhello\n", "5\r\nhello\r\r\n", "5 ;a=b\r\nhello\r\n", "5\rx\r\nhello\r\n",
		" 5\r\n", "\r\n",
		";\r\n", "x", "5", "7fffffffffffffff\r\n", "7ffffffffffffff\r\n", "fffffffffff\r\n",
		"00000000000000000005\r\nhello\r\n",
		"0;last\r\nTrailer: x\r\n\r\n", "5;" + strings.Repeat("x", 4093) + "\r\nhello\r\n",
		"5;" + strings.Repeat("x", 4094) + "\r\nhello\r\n", "5;" + strings.Repeat("x", 4095) + "\r\nhello\r\n",
		strings.Repeat("0", 4096) + "5\r\nhello\r\n", strings.Repeat("0", 4095) + "5\r\nhello\r\n",
		strings.Repeat("0", 4095) + "5;\r\nhello\r\n", "5;" + strings.Repeat("x", 3000) + "\r\nhello\r\n",
	}
	for range 20_000 {
		var b bytes.Buffer
		b.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 1 + rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		p, ok := fetch.Stored([]byte("http://a.example/"), b.Bytes())
		if !ok {
			t.Fatalf("%q is no response", b.Bytes())
		}
		_, body, _ := bytes.Cut(p.Raw, []byte("\r\n\r\n"))
		archived, err := io.ReadAll(block.NewPayloadReader(bufio.NewReader(bytes.NewReader(body))))
		want := p.PayloadLen
		if !block.IsChunked(body) {
			want = int64(len(body))
		}
		if err != nil || int64(len(archived)) != want {
			t.Fatalf("%q: %d bytes of payload on the wire, %d in the archive: %v", body, p.PayloadLen, len(archived), err)
		}
	}
}

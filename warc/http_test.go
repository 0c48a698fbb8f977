package warc

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http/httputil"
	"testing"
)

// Dechunking gives the same result as the standard library, for pieces of any size.
func TestDechunkAgainstStandardLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var stored bytes.Buffer
		w := httputil.NewChunkedWriter(&stored)
		for range rng.IntN(6) {
			if _, err := w.Write(text(rng.Uint64(), 1+rng.IntN(5000))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		stored.WriteString("\r\n")
		want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(stored.Bytes())))
		if err != nil {
			t.Fatal(err)
		}
		if got := dechunk(stored.Bytes()); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
		var c chunkScan
		var got []byte
		for rest := stored.Bytes(); len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 700))
			for b, done := rest[:n], false; len(b) > 0 && !done; {
				var piece []byte
				var used int
				piece, used, done = c.next(b)
				got = append(got, piece...)
				b = b[used:]
			}
			rest = rest[n:]
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("in pieces: %d bytes, want %d", len(got), len(want))
		}
	}
}

// Invalid chunking ends the payload at that position.
func TestDechunkBroken(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"5\r\nhel":                  "hel",
		"5\r\nhelloX\r\n5\r\nworld": "hello",
		"\r\n":                      "",
		"zz\r\nhello":               "",
		"5\nhello\n0\n\n":           "hello",
		"ffffffffffffffffffff\r\nx": "",
		"0\r\n\r\nmore":             "",
		"5 ;a\r\nhello\r\n0\r\n":    "hello",
	} {
		if got := string(dechunk([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// The head of a stored message, in several real spellings.
func TestHTTPHead(t *testing.T) {
	for in, want := range map[string]struct {
		status  int
		mime    string
		chunked bool
		body    string
	}{
		"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\nbody":                                    {200, "a/b", false, "body"},
		"HTTP/1.0 404\ncontent-type:a/b\n\nbody":                                              {404, "a/b", false, "body"},
		"ICY 200 OK\r\n\r\n":                                                                  {200, "", false, ""},
		"HTTP/1.1 200 OK\r\nX: y\r\n z\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1\r\na\r\n": {200, "", true, "1\r\na\r\n"},
		"HTTP/1.1 abc\r\nno colon\r\n: x\r\nContent-Type:\r\n\r\nb":                           {0, "", false, "b"},
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n":                                                   {0, "", false, ""},
	} {
		r := RecordRead{Block: []byte(in), Fields: []Field{{"Content-Type", "application/http"}}}
		h, body, ok := r.HTTPMessage()
		if !ok || h.Status != want.status || h.Get("content-TYPE") != want.mime || h.Chunked() != want.chunked || string(body) != want.body {
			t.Errorf("%q: %+v %q %v", in, h, body, ok)
		}
	}
	for _, in := range []string{"", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\nA: b\r\n", "\r\n"} {
		r := RecordRead{Block: []byte(in), Fields: []Field{{"Content-Type", "application/http"}}}
		if _, _, ok := r.HTTPMessage(); ok {
			t.Errorf("%q has a head", in)
		}
	}
}

// dechunk returns a chunked body without its framing, in a new slice. It stops at invalid framing.
func dechunk(body []byte) []byte {
	var c chunkScan
	var out []byte
	for done := false; len(body) > 0 && !done; {
		var piece []byte
		var used int
		piece, used, done = c.next(body)
		out = append(out, piece...)
		body = body[used:]
	}
	return out
}

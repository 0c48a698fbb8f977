package warc

import (
	"io"
	"testing"
)

// A block of an HTTP record has a message if its head is complete.
func TestHTTPMessage(t *testing.T) {
	for _, tt := range []struct {
		block, media, body string
		ok                 bool
	}{
		{"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", "application/http", "body", true},
		{"\xef\xbb\xbfHTTP/1.1 200 OK\r\nX: y\rA: b\r\n\r\nbody", "application/http", "body", true},
		{"1\n\n4HTTP 200 OK\nA: b\n\r\r\n\nbody", "application/http", "body", true},
		{"HTTP/1.1 200 OK\r\nA: b\r\n", "application/http", "", false},
		{"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", "text/plain", "", false},
		{"", "application/http", "", false},
	} {
		r := RecordRead{Block: []byte(tt.block), Fields: []Field{{"Content-Type", tt.media}}}
		h, body, ok := r.HTTPMessage()
		if ok != tt.ok || string(body) != tt.body || ok && (h.Status != 200 || h.Get("a") != "b") {
			t.Errorf("%q: %+v %q %v", tt.block, h, body, ok)
		}
		if !ok {
			continue
		}
		read, rest, err := r.HTTP(true)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(rest); string(read.Raw) != string(h.Raw) || read.Status != 200 || string(got) != tt.body {
			t.Errorf("%q: as a stream %+v %q", tt.block, read, got)
		}
	}
}

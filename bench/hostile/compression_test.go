package hostile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// sink is a connection that keeps what is sent.
type sink struct {
	net.Conn
	sent bytes.Buffer
}

func (s *sink) Write(b []byte) (int, error) { return s.sent.Write(b) }

// The bombs are what they say they are: other people's readers find no fault with them.
func TestBombsUnpack(t *testing.T) {
	var s sink
	(&Exchange{Conn: &s}).sendGzip("start", 20)
	z, err := gzip.NewReader(&s.sent)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != "start"+strings.Repeat(" ", 20<<20) {
		t.Errorf("gzip: %d bytes, %v", len(got), err)
	}
	for path, unpack := range map[string]func(io.Reader) io.Reader{
		"/zlib":    func(r io.Reader) io.Reader { _, _ = io.CopyN(io.Discard, r, 2); return flate.NewReader(r) },
		"/deflate": func(r io.Reader) io.Reader { return flate.NewReader(r) },
		"/br":      func(r io.Reader) io.Reader { return brotli.NewReader(r) },
		"/zstd": func(r io.Reader) io.Reader {
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(z.Close)
			return z
		},
	} {
		s.sent.Reset()
		playBomb(&Exchange{Conn: &s, Path: path})
		_, body, _ := bytes.Cut(s.sent.Bytes(), []byte("\r\n\r\n"))
		got, err := io.ReadAll(io.LimitReader(unpack(bytes.NewReader(body)), 16<<20))
		if err != nil || len(got) != 16<<20 || len(bytes.Trim(got, " ")) > 0 {
			t.Errorf("%s: %d bytes from %d, %v", path, len(got), len(body), err)
		}
	}
}

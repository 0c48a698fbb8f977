package lookup

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// pack returns a payload in an encoding.
func pack(t *testing.T, payload []byte, writer func(w io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := writer(&packed)
	if _, err := w.Write(payload); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// The encodings that a payload has are removed, whatever its header field says. Those that it lacks are passed over.
func TestDecode_theBytesDecide(t *testing.T) {
	page := []byte("<html><p>" + strings.Repeat("some words of a page, ", 1000))
	gzipped := func(b []byte) []byte {
		return pack(t, b, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	}
	zlibbed := pack(t, page, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	raw := pack(t, page, func(w io.Writer) io.WriteCloser {
		z, _ := flate.NewWriter(w, 9) //nolint:errcheck // the level is valid
		return z
	})
	brotlied := pack(t, page, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
	zstded := pack(t, page, func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	})
	for _, c := range []struct {
		encoding string
		payload  []byte
	}{
		{"", page}, {"identity", page}, {"gzip", gzipped(page)}, {"X-GZIP", gzipped(page)}, {"deflate", zlibbed},
		{"deflate", raw}, {"br", brotlied}, {"zstd", zstded}, {"gzip, gzip", gzipped(gzipped(page))},
		{"br, gzip", gzipped(brotlied)}, {"gzip, gzip", gzipped(page)}, {"gzip", page}, {"utf-8", page}, {"deflate", page},
		{"br", page}, {"zstd", page}, {"gzip, br", page}, {"deflate", gzipped(page)}, {"br", gzipped(page)},
		{"gzip", zstded}, {"", nil},
	} {
		r, done, err := DecodePayload(bytes.NewReader(c.payload), c.encoding)
		if err != nil {
			t.Errorf("%q over %.20q: %v", c.encoding, c.payload, err)
			continue
		}
		got, err := io.ReadAll(r)
		done()
		if want := page[:min(len(page), len(page)*len(c.payload))]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q over %.20q: %.40q, %v", c.encoding, c.payload, got, err)
		}
	}
	for _, encoding := range []string{"gzip", "deflate", "br", "zstd", "gzip, br"} {
		r, done, err := DecodePayload(bytes.NewReader(nil), encoding)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); len(got) > 0 || err != nil {
			t.Errorf("%q over nothing: %q, %v", encoding, got, err)
		}
		done()
	}
}

package coding

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// codingsMax is the most content encodings of a payload.
const codingsMax = 5

// windowMax is the most memory for the window of a zstd payload, in bytes.
const windowMax = 64 << 20

// Decode removes the content encodings that a header field lists, the last one first. done frees the decoders.
func Decode(body io.Reader, encoding string) (decoded io.Reader, done func(), err error) {
	codings := strings.Split(encoding, ",")
	if len(codings) > codingsMax {
		return nil, nil, fmt.Errorf("%d content encodings", len(codings))
	}
	var closers []func()
	done = func() {
		for _, c := range closers {
			c()
		}
	}
	for i := len(codings) - 1; i >= 0; i-- {
		name := strings.ToLower(strings.TrimSpace(codings[i]))
		switch name {
		case "", "identity", "none":
		case "gzip", "x-gzip":
			body, err = gzip.NewReader(body)
		case "deflate":
			body, err = inflate(body)
		case "br":
			body = brotli.NewReader(body)
		case "zstd":
			var z *zstd.Decoder
			z, err = zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowMax))
			if err == nil {
				closers = append(closers, z.Close)
				body = z
			}
		default:
			err = fmt.Errorf("unknown content encoding")
		}
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("content encoding %q: %w", name, err)
		}
	}
	return body, done, nil
}

// inflate decodes "deflate", which should be zlib's format; some servers send the raw stream.
func inflate(body io.Reader) (io.Reader, error) {
	br := bufio.NewReader(body)
	b, _ := br.Peek(2)
	if len(b) == 2 && b[0]&0x0f == 8 && (uint(b[0])<<8|uint(b[1]))%31 == 0 {
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}

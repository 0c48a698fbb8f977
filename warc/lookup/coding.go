package lookup

import (
	"bufio"
	"bytes"
	"errors"
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

// startMost is how many bytes of a payload are looked at before they are decoded.
const startMost = 4 << 10

// DecodePayload removes the content encodings that a header field lists, the last one first. An encoding that the bytes
// do not have, or that is unknown, is passed over: archives and servers name encodings that payloads lack. done frees
// the decoders.
func DecodePayload(body io.Reader, encoding string) (decoded io.Reader, done func(), err error) {
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
		open := opener(name)
		if open == nil {
			continue
		}
		in := bufio.NewReaderSize(body, startMost)
		start, err := in.Peek(startMost)
		if len(start) == 0 && err == io.EOF { //nolint:errorlint // bufio returns it unwrapped
			body = in
			continue
		}
		if seen := packedAs(start); seen != nil {
			open = seen
		} else if name != "br" && name != "deflate" || !decodes(open, start) {
			body = in
			continue
		}
		packed, end, err := open(in)
		if err != nil {
			done()
			return nil, nil, fmt.Errorf("content encoding %q: %w", name, err)
		}
		closers = append(closers, end)
		body = packed
	}
	return body, done, nil
}

// open starts to decode. end frees the decoder.
type open func(body io.Reader) (decoded io.Reader, end func(), err error)

// opener returns the decoder of an encoding, nil for an unknown one and for none.
func opener(name string) open {
	switch name {
	case "gzip", "x-gzip":
		return openGzip
	case "deflate":
		return inflate
	case "br":
		return func(body io.Reader) (io.Reader, func(), error) { return brotli.NewReader(body), func() {}, nil }
	case "zstd":
		return openZstd
	default:
		return nil
	}
}

// packedAs returns the decoder that a magic number asks for, nil if there is none.
func packedAs(start []byte) open {
	switch {
	case len(start) >= 2 && start[0] == 0x1f && start[1] == 0x8b:
		return openGzip
	case len(start) >= 4 && start[0] == 0x28 && start[1] == 0xb5 && start[2] == 0x2f && start[3] == 0xfd,
		len(start) >= 4 && start[0]&0xf0 == 0x50 && start[1] == 0x2a && start[2] == 0x4d && start[3] == 0x18:
		return openZstd
	default:
		return nil
	}
}

// decodes reports whether the start of a payload can be decoded without a fault.
func decodes(by open, start []byte) bool {
	decoded, end, err := by(bytes.NewReader(start))
	if err != nil {
		return false
	}
	defer end()
	_, err = io.Copy(io.Discard, io.LimitReader(decoded, startMost))
	return err == nil || errors.Is(err, io.ErrUnexpectedEOF)
}

func openGzip(body io.Reader) (io.Reader, func(), error) {
	z, err := gzip.NewReader(body)
	return z, func() {}, err
}

func openZstd(body io.Reader) (io.Reader, func(), error) {
	z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowMax))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// inflate decodes "deflate", which should be zlib's format; some servers send the raw stream.
func inflate(body io.Reader) (io.Reader, func(), error) {
	br := bufio.NewReader(body)
	b, _ := br.Peek(2)
	if len(b) == 2 && b[0]&0x0f == 8 && (uint(b[0])<<8|uint(b[1]))%31 == 0 {
		z, err := zlib.NewReader(br)
		return z, func() {}, err
	}
	return flate.NewReader(br), func() {}, nil
}

package coding

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"orbweaver/internal/inflate"
)

// inflaters are the decompressors of one Decoder, each made when first needed.
type inflaters struct {
	deflate func() *inflate.Decoder
	brotli  *brotli.Reader
	zstd    *zstd.Decoder
}

// lazyInflater returns a function that makes a decompressor at the first call and returns the same one later.
func lazyInflater() func() *inflate.Decoder {
	var made *inflate.Decoder
	return func() *inflate.Decoder {
		if made == nil {
			made = inflate.NewDecoder()
		}
		return made
	}
}

// unpack undoes the encodings that are made of DEFLATE: it appends what body holds to dst, up to limit bytes in all.
func (s *inflaters) unpack(dst []byte, e encoding, body []byte, limit int) ([]byte, Fault) {
	deflate := s.deflate()
	var err error
	used := len(body)
	switch {
	case e == gzipped:
		dst, err = deflate.Gzip(dst, body, limit)
	case e == deflated && zlibHeader(body):
		dst, err = deflate.Zlib(dst, body, limit)
	default: // "deflate" is two things: the standard's, and what some servers send
		dst, used, err = deflate.Raw(dst, body, limit)
	}
	switch {
	case err == nil && e == rawDeflated && used < len(body), errors.Is(err, inflate.ErrTrailing):
		return dst, Trailing
	case err == nil, errors.Is(err, inflate.ErrLimit): // the caller sees that it is too much
		return dst, OK
	case errors.Is(err, inflate.ErrWork):
		return dst, Work
	case errors.Is(err, inflate.ErrTruncated):
		return dst, Truncated
	default:
		return dst, Corrupt
	}
}

// open returns the decompressor for brotli or zstd, set to read in.
func (s *inflaters) open(e encoding, in *bytes.Reader, windowMax int) (io.Reader, error) {
	switch e {
	case brotlied:
		if s.brotli == nil {
			s.brotli = brotli.NewReader(in)
			return s.brotli, nil
		}
		return s.brotli, s.brotli.Reset(in)
	case zstded:
		if s.zstd == nil {
			var err error
			s.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(uint64(windowMax)))
			if err != nil {
				return nil, err
			}
		}
		return s.zstd, s.zstd.Reset(in)
	default:
		return in, nil
	}
}

// zlibHeader says whether b starts with a zlib header without a dictionary.
func zlibHeader(b []byte) bool {
	return len(b) >= 2 && b[0]&0x0f == 8 && b[0]>>4 <= 7 && b[1]&0x20 == 0 && (uint(b[0])<<8|uint(b[1]))%31 == 0
}

// decodeFault names the error of a decompressor.
func decodeFault(err error) Fault {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return Truncated
	default:
		return Corrupt
	}
}

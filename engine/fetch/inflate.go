package fetch

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// inflaters are the decompressors of one Decoder, each made when first needed.
type inflaters struct {
	gzip   gzip.Reader
	raw    io.ReadCloser
	zlib   io.ReadCloser
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

// open returns the decompressor for e, set to read in, which holds body.
func (s *inflaters) open(e encoding, in *bytes.Reader, body []byte, windowMax int) (io.Reader, error) {
	switch e {
	case gzipped:
		return &s.gzip, s.gzip.Reset(in)
	case deflated:
		if zlibHeader(body) {
			return s.openZlib(in)
		}
		return s.openRaw(in)
	case rawDeflated:
		return s.openRaw(in)
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

// openZlib and openRaw are the two things that "deflate" means: the standard's, and what some servers send.
func (s *inflaters) openZlib(in *bytes.Reader) (io.Reader, error) {
	if s.zlib == nil {
		r, err := zlib.NewReader(in)
		if err != nil {
			return nil, err
		}
		s.zlib = r
		return r, nil
	}
	return s.zlib, s.zlib.(zlib.Resetter).Reset(in, nil)
}

func (s *inflaters) openRaw(in *bytes.Reader) (io.Reader, error) {
	if s.raw == nil {
		s.raw = flate.NewReader(in)
		return s.raw, nil
	}
	return s.raw, s.raw.(flate.Resetter).Reset(in, nil)
}

// zlibHeader says whether b starts with a zlib header without a dictionary.
func zlibHeader(b []byte) bool {
	return len(b) >= 2 && b[0]&0x0f == 8 && b[0]>>4 <= 7 && b[1]&0x20 == 0 && (uint(b[0])<<8|uint(b[1]))%31 == 0
}

// decodeFault names the error of a decompressor that has yielded out bytes.
func decodeFault(err error, out int) DecodeFault {
	switch {
	case errors.Is(err, gzip.ErrHeader) && out > 0:
		return DecodeTrailing // a whole member, then something else
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return DecodeTruncated
	default:
		return DecodeCorrupt
	}
}

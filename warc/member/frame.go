package member

import (
	"bufio"
	"errors"
	"io"
)

// frameReader returns exactly one zstd frame and then io.EOF, so that its end is known.
type frameReader struct {
	br        *bufio.Reader
	remaining int64 // of the current part
	state     uint8 // 0: at the header, 1: at a block, 2: done
	trailer   bool  // a checksum follows the last block
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.remaining == 0 {
		if err := f.part(); err != nil {
			return 0, err
		}
	}
	n, err := f.br.Read(p[:min(int64(len(p)), f.remaining)])
	f.remaining -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// part computes the length of the next part of the frame.
func (f *frameReader) part() error {
	switch f.state {
	case 0:
		b, err := f.br.Peek(5)
		if err != nil {
			return noEOF(err)
		}
		d := b[4]
		f.remaining = 5 + [4]int64{0, 1, 2, 4}[d&3] + [4]int64{0, 2, 4, 8}[d>>6]
		if single := d&0x20 != 0; !single {
			f.remaining++ // the window
		} else if d>>6 == 0 {
			f.remaining++ // a content size of one byte
		}
		f.trailer = d&4 != 0
		f.state = 1
	case 1:
		b, err := f.br.Peek(3)
		if err != nil {
			return noEOF(err)
		}
		h := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		f.remaining = 3 + h>>3
		if h>>1&3 == 1 { // one byte, repeated
			f.remaining = 4
		}
		if h&1 != 0 {
			f.state = 2
			if f.trailer {
				f.remaining += 4
			}
		}
	default:
		return io.EOF
	}
	return nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// The kinds of faults of a file. An error of a Reader wraps one of them, or comes from the file. Package warc uses them
// for records too.
var (
	// ErrNotWARC: the bytes are no WARC record.
	ErrNotWARC = errors.New("not a WARC record")
	// ErrTruncated: the file ends inside a member or record.
	ErrTruncated = errors.New("truncated")
	// ErrCompression: a gzip member or zstd frame is damaged.
	ErrCompression = errors.New("damaged compression")
	// ErrTooLarge: a dictionary, header or block is larger than the limit.
	ErrTooLarge = errors.New("too large")
)

// Compression is the compression of a file; each record is a member (or frame) of its own.
type Compression uint8

// The forms of a file. The zero value is Gzip, which every reader supports.
const (
	Gzip Compression = iota
	Zstd
	None
)

// String returns the name used in configuration files.
func (c Compression) String() string {
	switch c {
	case Gzip:
		return "gzip"
	case Zstd:
		return "zstd"
	case None:
		return "none"
	}
	return "invalid"
}

package member

import "errors"

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

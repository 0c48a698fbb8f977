package cdxj

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// LineMax is the length in bytes of the longest line of an index that is read.
const LineMax = 256 << 10

// readBuffer is the size of the buffer of a LineReader, in bytes.
const readBuffer = 64 << 10

// LineReader reads the lines of an index, or of another list that may be of another program.
type LineReader struct {
	// Number of the line that Next returned last, from 1, where it begins, and where the next one does, in bytes.
	Number  int
	At, End int64

	in      *bufio.Reader
	longest int
	line    []byte // a line that is longer than the buffer
}

// ReadLines returns the lines of in. Longer ones than longest bytes are passed over.
func ReadLines(in io.Reader, longest int) *LineReader {
	return &LineReader{in: bufio.NewReaderSize(in, min(longest, readBuffer)), longest: longest}
}

// Next returns the next line with its end, which only the last line can lack. It is valid until the next call. A line
// that is too long is passed over: the error wraps ErrLine, and the next call goes on behind it. The end is io.EOF.
func (l *LineReader) Next() ([]byte, error) {
	l.Number, l.At, l.line = l.Number+1, l.End, l.line[:0]
	isLong := false
	for {
		piece, err := l.in.ReadSlice('\n')
		l.End += int64(len(piece))
		isLong = isLong || l.End-l.At > int64(l.longest)
		isPart := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case err != nil && !isPart && !errors.Is(err, io.EOF):
			return nil, err //nolint:wrapcheck // of the file below
		case isLong && !isPart:
			return nil, fmt.Errorf("%w: line %d has %d bytes, more than %d", ErrLine, l.Number, l.End-l.At, l.longest)
		case l.End == l.At:
			return nil, io.EOF
		case !isPart && len(l.line) == 0:
			return piece, nil
		case !isLong:
			l.line = append(l.line, piece...)
		}
		if !isPart {
			return l.line, nil
		}
	}
}

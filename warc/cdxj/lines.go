package cdxj

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// blockSize is the size of a memory block for index lines. A file of a gigabyte has about forty megabytes of lines; a
// single growing slice would be copied many times, and be in memory twice meanwhile.
const blockSize = 256 << 10

// Lines holds the lines of a file, without file name and unsorted, in memory with few pointers.
type Lines struct {
	blocks [][]byte
	lines  []place
}

// place is the position of a line in a block.
type place struct{ block, start, end uint32 }

// Len returns the number of lines.
func (l *Lines) Len() int { return len(l.lines) }

func (l *Lines) line(i int) []byte {
	at := &l.lines[i]
	return l.blocks[at.block][at.start:at.end]
}

// Add appends a line. It borrows entry.
func (l *Lines) Add(entry []byte, offset, length int64) {
	last := l.room(len(entry) + placeMax)
	start := len(l.blocks[last])
	l.blocks[last] = appendPlace(append(l.blocks[last], entry...), offset, length)
	l.lines = append(l.lines, place{uint32(last), uint32(start), uint32(len(l.blocks[last]))})
}

// AddWhole appends a line that Line has returned, of these or of other Lines. It borrows the line.
func (l *Lines) AddWhole(line []byte) {
	last := l.room(len(line))
	start := len(l.blocks[last])
	l.blocks[last] = append(l.blocks[last], line...)
	l.lines = append(l.lines, place{uint32(last), uint32(start), uint32(len(l.blocks[last]))})
}

// room returns the number of a block with room for so many bytes.
func (l *Lines) room(need int) int {
	last := len(l.blocks) - 1
	if last < 0 || cap(l.blocks[last])-len(l.blocks[last]) < need {
		l.blocks = append(l.blocks, make([]byte, 0, max(need, blockSize)))
		last++
	}
	return last
}

// AppendLine appends to dst a whole line of an index: what Entry.Append gives, the place of the record, and the name of
// its file. The line has no end.
func AppendLine(dst, entry []byte, offset, length int64, name string) []byte {
	return Complete(appendPlace(append(dst, entry...), offset, length), nil, name)
}

// Complete appends to dst a line of Find and the name of its file, as in an index.
func Complete(dst, line []byte, name string) []byte {
	return append(appendName(append(append(dst, line...), fileKey...), name), lineEnd...)
}

// appendName appends the name of a file as the content of a JSON string. Bytes that are not UTF-8 stay, as the file has
// them.
func appendName(dst []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			dst = fmt.Appendf(dst, `\u%04x`, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// How a line goes on behind the place of its record, and how it ends.
const (
	fileKey = `"filename":"`
	lineEnd = "\"}"
)

// Cut removes all but the first n lines. Lines that are added later have new memory, so that snapshots stay valid.
func (l *Lines) Cut(n int) {
	if n >= len(l.lines) {
		return
	}
	at := l.lines[n]
	l.lines = l.lines[:n:n]
	clear(l.blocks[at.block+1:])
	l.blocks = l.blocks[:at.block+1]
	l.blocks[at.block] = l.blocks[at.block][:at.start:at.start]
}

// Snapshot returns the lines as they are now. It shares their text, and stays valid while lines are added and cut.
func (l *Lines) Snapshot() *Lines {
	return &Lines{blocks: slices.Clone(l.blocks), lines: l.lines[:len(l.lines):len(l.lines)]}
}

// Range returns the numbers of the lines from <= line < to, sorted by their bytes.
func (l *Lines) Range(from, to []byte) []int {
	var found []int
	for i := range l.lines {
		if line := l.line(i); bytes.Compare(line, from) >= 0 && bytes.Compare(line, to) < 0 {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b int) int { return bytes.Compare(l.line(a), l.line(b)) })
	return found
}

// Line returns a line by its number, without file name. It is borrowed.
func (l *Lines) Line(i int) []byte { return l.line(i) }

// Join returns the lines of l followed by those of more, without copying the text. Neither may be changed afterwards.
func (l *Lines) Join(more *Lines) *Lines {
	joined := &Lines{blocks: slices.Concat(l.blocks, more.blocks), lines: slices.Clone(l.lines)}
	for _, at := range more.lines {
		at.block += uint32(len(l.blocks))
		joined.lines = append(joined.lines, at)
	}
	return joined
}

// Memory returns the number of bytes in use.
func (l *Lines) Memory() (n int64) {
	for _, b := range l.blocks {
		n += int64(cap(b))
	}
	return n + int64(cap(l.lines))*12
}

// WriteSorted writes the lines sorted by their bytes, each with the file's name.
func (l *Lines) WriteSorted(w io.Writer, name string) error {
	order := make([]int, len(l.lines))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(l.line(a), l.line(b)) })
	out := bufio.NewWriterSize(w, 64<<10)
	end := append(appendName([]byte(fileKey), name), lineEnd+"\n"...)
	for _, i := range order {
		_, _ = out.Write(l.line(i)) // bufio keeps the first error for Flush
		_, _ = out.Write(end)
	}
	return out.Flush()
}

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

package lookup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

const windowSize = 8 << 10

// FirstLine searches a sorted file for the first line that is not before from. The line begins at the offset, or within
// 8 KiB and a line behind it; earlier if lines that are too long come first. It reads about as many windows as the size
// has bits.
func FirstLine(file vfs.File, from []byte) (int64, error) {
	size, err := file.Size()
	if err != nil {
		return 0, err
	}
	low, high := int64(0), size // the line, if any, begins at low or later; one at high or later is not before from
	buf := make([]byte, windowSize)
	for high-low > windowSize {
		mid := low + (high-low)/2
		line, begin, err := lineAfter(file, mid, &buf)
		switch {
		case err != nil:
			return 0, err
		case line == nil || begin >= high || bytes.Compare(line, from) >= 0:
			high = mid
		default:
			low = begin
		}
	}
	return low, nil
}

// lineAfter returns the first line that begins behind an offset; nil at the end of the file, and in a line that is too
// long.
func lineAfter(file io.ReaderAt, at int64, buf *[]byte) (line []byte, begin int64, err error) {
	for {
		n, err := file.ReadAt(*buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		text := (*buf)[:n]
		if first := bytes.IndexByte(text, '\n'); first >= 0 {
			rest := text[first+1:]
			if last := bytes.IndexByte(rest, '\n'); last >= 0 {
				return rest[:last], at + int64(first) + 1, nil
			}
		}
		if n < len(*buf) || n >= 2*cdxj.LineMax {
			return nil, 0, nil
		}
		*buf = make([]byte, 2*len(*buf))
	}
}

// EachLine calls f with the lines of a range in one sorted index file. f borrows the line. Those that are too long are
// left out.
func EachLine(fsys vfs.FS, name string, want Range, f func(line []byte)) error {
	c, err := openCursor(fsys, name, want, chunkMost, func(*warc.Fault) {})
	for err == nil && c.now != nil {
		f(c.now)
		err = c.Next()
	}
	return err
}

// indexCursor reads a part of a sorted index. It keeps no file open.
type indexCursor struct {
	fsys  vfs.FS
	name  string
	want  Range
	chunk int
	at    int64  // offset in the file behind rest
	buf   []byte // memory of rest
	rest  []byte // what was read and not used
	ended bool   // the file ends behind rest
	cut   int64  // bytes of a line that were passed over, since it is too long; its rest follows
	now   []byte

	onFault func(*warc.Fault)
}

// openCursor finds the first line of the range; nil if there is none. onFault is told of lines that are too long.
func openCursor(
	fsys vfs.FS, name string, want Range, chunk int, onFault func(*warc.Fault),
) (*indexCursor, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	c := &indexCursor{fsys: fsys, name: name, want: want, chunk: chunk, onFault: onFault}
	if c.at, err = FirstLine(file, want.From); err == nil {
		c.buf = make([]byte, windowSize)
		err = c.read(file)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = c.Next()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.buf = nil // the next piece has the size of a chunk
	return c, nil
}

// Line implements extsort.Source.
func (c *indexCursor) Line() []byte { return c.now }

// Next implements extsort.Source.
func (c *indexCursor) Next() error {
	for {
		end := bytes.IndexByte(c.rest, '\n')
		if end < 0 && !c.ended {
			if err := c.refill(); err != nil {
				return err
			}
			continue
		}
		c.now = nil
		if end < 0 {
			return nil // a line without an end is not complete
		}
		line := bytes.TrimSuffix(c.rest[:end], []byte("\r"))
		c.rest = c.rest[end+1:]
		length := c.cut + int64(end) + 1
		c.cut = 0
		switch {
		case length > cdxj.LineMax:
			at := c.at - int64(len(c.rest)) - length
			c.onFault(warc.LineFault(path.Base(c.name), at, fmt.Errorf("%w: a line of %d bytes", cdxj.ErrLine, length)))
		case bytes.Compare(line, c.want.From) < 0:
		case bytes.Compare(line, c.want.To) >= 0:
			c.rest, c.ended = nil, true
			return nil
		default:
			c.now = line
			return nil
		}
	}
}

// refill reads more of the file.
func (c *indexCursor) refill() error {
	file, err := c.fsys.Open(c.name)
	if err == nil {
		err = errors.Join(c.read(file), file.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// read reads one piece behind what is left.
func (c *indexCursor) read(file io.ReaderAt) error {
	if len(c.rest) >= cdxj.LineMax {
		c.cut += int64(len(c.rest))
		c.rest = nil
	}
	need := len(c.rest) + c.chunk
	if len(c.buf) < need {
		c.buf = append(make([]byte, 0, need), c.rest...)[:need]
	} else {
		copy(c.buf, c.rest)
	}
	n, err := file.ReadAt(c.buf[len(c.rest):], c.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	c.ended = err != nil
	c.at += int64(n)
	c.rest = c.buf[:len(c.rest)+n]
	return nil
}

package zipnum

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"

	"orbweaver/internal/vfs"
)

// Limits of what is read, in bytes.
const (
	lineMost  = 256 << 10 // of cluster.idx
	blockMost = 256 << 20 // of a block, unpacked: 3,000 lines of the longest URLs
)

// ErrCluster is returned for a damaged cluster.
var ErrCluster = errors.New("the cluster is damaged")

// block is a line of cluster.idx.
type block struct {
	key, part      string
	offset, length int64
}

// Cursor is the lines of a range, in order. It keeps no file open.
type Cursor struct {
	fsys     vfs.FS
	dir      string
	from, to []byte
	blocks   []block // that are not read yet
	lines    []byte  // of the present block, that are not read yet
	now      []byte
}

// Open finds the lines from <= line < to of the cluster in dir. The error wraps fs.ErrNotExist if there is none.
func Open(fsys vfs.FS, dir string, from, to []byte) (*Cursor, error) {
	c := &Cursor{fsys: fsys, dir: dir, from: from, to: to}
	f, err := fsys.Open(path.Join(dir, IndexName))
	if err != nil {
		return nil, fmt.Errorf("zipnum: %w", err)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, lineMost)
	for n := 1; lines.Scan(); n++ {
		b, ok := parseBlock(lines.Bytes())
		if !ok {
			return nil, errors.Join(fmt.Errorf("%w: line %d of %s", ErrCluster, n, IndexName), f.Close())
		}
		if b.key >= string(to) {
			break
		}
		if b.key < string(from) { // the first line of the range can only be in the last of these
			c.blocks = c.blocks[:0]
		}
		c.blocks = append(c.blocks, b)
	}
	if err := errors.Join(lines.Err(), f.Close()); err != nil {
		return nil, fmt.Errorf("zipnum: %w", err)
	}
	return c, c.Next()
}

func parseBlock(line []byte) (b block, ok bool) {
	fields := bytes.Split(line, []byte("\t"))
	if len(fields) < 4 {
		return b, false
	}
	b.key, b.part = string(fields[0]), string(fields[1])
	var errOffset, errLength error
	b.offset, errOffset = strconv.ParseInt(string(fields[2]), 10, 64)
	b.length, errLength = strconv.ParseInt(string(fields[3]), 10, 64)
	if !fs.ValidPath(b.part) {
		return b, false
	}
	return b, errors.Join(errOffset, errLength) == nil && b.offset >= 0 && b.length > 0 && b.length <= blockMost
}

// Line is the present line, without its end; nil behind the last. It is valid until Next.
func (c *Cursor) Line() []byte { return c.now }

// Next goes to the next line.
func (c *Cursor) Next() error {
	for {
		for len(c.lines) > 0 {
			line, rest, _ := bytes.Cut(c.lines, []byte("\n"))
			c.lines = rest
			if bytes.Compare(line, c.to) >= 0 {
				c.now, c.lines, c.blocks = nil, nil, nil
				return nil
			}
			if bytes.Compare(line, c.from) >= 0 {
				c.now = line
				return nil
			}
		}
		if c.now = nil; len(c.blocks) == 0 {
			return nil
		}
		b := c.blocks[0]
		c.blocks = c.blocks[1:]
		var err error
		if c.lines, err = c.read(&b); err != nil {
			return fmt.Errorf("%s at %d: %w", path.Join(c.dir, b.part), b.offset, err)
		}
	}
}

// read unpacks a block.
func (c *Cursor) read(b *block) (lines []byte, err error) {
	f, err := c.fsys.Open(path.Join(c.dir, b.part))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(io.NewSectionReader(f, b.offset, b.length))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCluster, err)
	}
	if lines, err = io.ReadAll(io.LimitReader(z, blockMost+1)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCluster, err)
	}
	if len(lines) > blockMost {
		return nil, fmt.Errorf("%w: a block of more than %d bytes", ErrCluster, blockMost)
	}
	return lines, nil
}

package zipnum

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"

	"orbweaver/internal/vfs"
)

// Limits of what is read, in bytes: other programs make clusters, too.
const (
	lineMost     = 256 << 10 // of cluster.idx, and of a line of a block
	blockMost    = 16 << 20  // of a block, packed: 3,000 lines have some 200 KB
	unpackedFree = 16 << 20  // of a block, and unpackedMost for each packed byte
	unpackedMost = 64
	batchMost    = 4096 // blocks in memory
	partsMost    = 64 << 10
)

// ErrCluster is returned for a damaged cluster.
var ErrCluster = errors.New("the cluster is damaged")

// block is a line of cluster.idx.
type block struct {
	key, part      string
	offset, length int64
}

// Cursor is the lines of a range, in order. It keeps no file open, and one packed block in memory.
type Cursor struct {
	fsys     vfs.FS
	dir      string
	from, to []byte
	blocks   []block          // that are not read yet
	at       int64            // offset in cluster.idx of what follows blocks; -1 if nothing of the range does
	ends     map[string]int64 // of the last block of each part: blocks do not share bytes
	place    string           // of the present block
	lines    *bufio.Scanner   // of the present block
	now      []byte
}

// Open finds the lines from <= line < to of the cluster in dir. The error wraps fs.ErrNotExist if there is none.
func Open(fsys vfs.FS, dir string, from, to []byte) (*Cursor, error) {
	c := &Cursor{
		fsys: fsys, dir: dir, from: from, to: to, ends: map[string]int64{}, lines: bufio.NewScanner(strings.NewReader("")),
	}
	if err := c.readIndex(); err != nil {
		return nil, err
	}
	return c, c.Next()
}

// readIndex reads a batch of blocks from cluster.idx. Of those before the range it keeps the last alone.
func (c *Cursor) readIndex() (err error) {
	f, err := c.fsys.Open(path.Join(c.dir, IndexName))
	if err != nil {
		return fmt.Errorf("zipnum: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(io.NewSectionReader(f, c.at, math.MaxInt64-c.at))
	lines.Buffer(nil, lineMost)
	at := c.at
	lines.Split(func(b []byte, atEnd bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(b, atEnd)
		at += int64(n)
		return n, line, err
	})
	for len(c.blocks) < batchMost {
		begin := at
		if !lines.Scan() {
			c.at = -1
			break
		}
		b, ok := parseBlock(lines.Bytes())
		if !ok {
			return fmt.Errorf("%w: the line at %d of %s", ErrCluster, begin, IndexName)
		}
		if b.key >= string(c.to) {
			c.at = -1
			break
		}
		if b.key < string(c.from) { // the first line of the range can only be in the last of these
			c.blocks = c.blocks[:0]
		}
		c.blocks = append(c.blocks, b)
		c.at = at
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("zipnum: %s at %d: %w", IndexName, at, err)
	}
	return nil
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
		for c.lines.Scan() {
			line := c.lines.Bytes()
			if bytes.Compare(line, c.to) >= 0 {
				c.now, c.blocks, c.at = nil, nil, -1
				c.lines = bufio.NewScanner(strings.NewReader(""))
				return nil
			}
			if bytes.Compare(line, c.from) >= 0 {
				c.now = line
				return nil
			}
		}
		c.now = nil
		if err := c.lines.Err(); err != nil {
			return fmt.Errorf("%s: %w: %w", c.place, ErrCluster, err)
		}
		if len(c.blocks) == 0 && c.at >= 0 {
			if err := c.readIndex(); err != nil {
				return err
			}
		}
		if len(c.blocks) == 0 {
			return nil
		}
		b := c.blocks[0]
		c.blocks = c.blocks[1:]
		if err := c.read(&b); err != nil {
			return fmt.Errorf("%s: %w", c.place, err)
		}
	}
}

// read begins to unpack a block.
func (c *Cursor) read(b *block) (err error) {
	c.place = fmt.Sprintf("%s at %d", path.Join(c.dir, b.part), b.offset)
	if end, ok := c.ends[b.part]; b.offset < end || !ok && len(c.ends) >= partsMost {
		return fmt.Errorf("%w: the block lies over others, or there are more than %d parts", ErrCluster, partsMost)
	}
	c.ends[b.part] = b.offset + b.length
	f, err := c.fsys.Open(path.Join(c.dir, b.part))
	if err != nil {
		return err
	}
	packed, err := io.ReadAll(io.NewSectionReader(f, b.offset, b.length))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCluster, err)
	}
	c.lines = bufio.NewScanner(&bounded{z, unpackedFree + unpackedMost*int64(len(packed))})
	c.lines.Buffer(nil, lineMost)
	return nil
}

// bounded is an error once a block has more than left bytes.
type bounded struct {
	io.Reader

	room int64 // in bytes
}

func (r *bounded) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.room -= int64(n); r.room < 0 {
		err = fmt.Errorf("%w: a block unpacks to more than %d times its length", ErrCluster, unpackedMost)
	}
	return n, err
}

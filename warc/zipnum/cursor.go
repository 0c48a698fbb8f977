package zipnum

import (
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
	"orbweaver/warc/cdxj"
)

// Limits of what is read, in bytes: other programs make clusters, too.
const (
	blockMost    = 16 << 20 // of a block, packed: 3,000 lines have some 200 KB
	unpackedFree = 16 << 20 // of a block, and unpackedMost for each packed byte
	unpackedMost = 64
	batchMost    = 4096 // blocks in memory
	partsMost    = 64 << 10
	damageMost   = 1000
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
	onDamage func(file string, at int64, what string)
	damaged  int
	blocks   []block          // that are not read yet
	at       int64            // offset in cluster.idx of what follows blocks; -1 if nothing of the range does
	ends     map[string]int64 // of the last block of each part: blocks do not share bytes
	present  block
	lines    *cdxj.LineReader // of the present block
	now      []byte
}

// Open finds the lines from <= line < to of the cluster in dir. The error wraps fs.ErrNotExist if there is none.
// onDamage is told of what is damaged and left out: a line of cluster.idx, a block, the rest of a block, or a line in
// it. file and at are its place.
func Open(
	fsys vfs.FS, dir string, from, to []byte, onDamage func(file string, at int64, what string),
) (*Cursor, error) {
	c := &Cursor{fsys: fsys, dir: dir, from: from, to: to, ends: map[string]int64{}, onDamage: onDamage}
	if err := c.readIndex(); err != nil {
		return nil, err
	}
	return c, c.Next()
}

// damage reports damage. It returns an error if there is too much.
func (c *Cursor) damage(file string, at int64, err error) error {
	if c.damaged++; c.damaged > damageMost {
		return fmt.Errorf("%s at %d: %w: more than %d faults", path.Join(c.dir, file), at, ErrCluster, damageMost)
	}
	what := strings.TrimPrefix(err.Error(), ErrCluster.Error()+": ")
	c.onDamage(file, at, what+"; it is left out")
	return nil
}

// readIndex reads a batch of blocks from cluster.idx. Of those before the range it keeps the last alone.
func (c *Cursor) readIndex() (err error) {
	f, err := c.fsys.Open(path.Join(c.dir, IndexName))
	if err != nil {
		return fmt.Errorf("zipnum: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	start := c.at
	lines := cdxj.ReadLines(io.NewSectionReader(f, start, math.MaxInt64-start), cdxj.LineMax)
	for len(c.blocks) < batchMost {
		line, err := lines.Next()
		if err == io.EOF { //nolint:errorlint // Next returns it unwrapped
			c.at = -1
			return nil
		}
		if err != nil && !errors.Is(err, cdxj.ErrLine) {
			return fmt.Errorf("zipnum: %s at %d: %w", IndexName, start+lines.At, err)
		}
		b, ok := parseBlock(bytes.TrimRight(line, "\r\n"))
		if !ok {
			if err == nil {
				err = fmt.Errorf("line %.100q", line)
			}
			if err := c.damage(IndexName, start+lines.At, err); err != nil {
				return err
			}
			continue
		}
		if b.key >= string(c.to) {
			c.at = -1
			return nil
		}
		if b.key < string(c.from) { // the first line of the range can only be in the last of these
			c.blocks = c.blocks[:0]
		}
		c.blocks = append(c.blocks, b)
		c.at = start + lines.End
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
		for c.lines != nil {
			line, err := c.lines.Next()
			if err != nil && err != io.EOF { //nolint:errorlint // Next returns it unwrapped
				if err := c.damage(c.present.part, c.present.offset, err); err != nil {
					return err
				}
			}
			line = bytes.TrimRight(line, "\r\n")
			switch {
			case errors.Is(err, cdxj.ErrLine):
			case err != nil:
				c.lines = nil
			case bytes.Compare(line, c.to) >= 0:
				c.now, c.blocks, c.at, c.lines = nil, nil, -1, nil
				return nil
			case bytes.Compare(line, c.from) >= 0:
				c.now = line
				return nil
			}
		}
		c.now = nil
		if len(c.blocks) == 0 && c.at >= 0 {
			if err := c.readIndex(); err != nil {
				return err
			}
		}
		if len(c.blocks) == 0 {
			return nil
		}
		c.present = c.blocks[0]
		c.blocks = c.blocks[1:]
		err := c.read(&c.present)
		if errors.Is(err, ErrCluster) {
			err = c.damage(c.present.part, c.present.offset, err)
		}
		if err != nil {
			return err
		}
	}
}

// read begins to unpack a block.
func (c *Cursor) read(b *block) (err error) {
	if end, ok := c.ends[b.part]; b.offset < end || !ok && len(c.ends) >= partsMost {
		return fmt.Errorf("%w: the block lies over others, or there are more than %d parts", ErrCluster, partsMost)
	}
	c.ends[b.part] = b.offset + b.length
	f, err := c.fsys.Open(path.Join(c.dir, b.part))
	if err != nil {
		return fmt.Errorf("zipnum: %w", err)
	}
	packed, err := io.ReadAll(io.NewSectionReader(f, b.offset, b.length))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s at %d: %w", path.Join(c.dir, b.part), b.offset, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCluster, err)
	}
	c.lines = cdxj.ReadLines(&bounded{z, unpackedFree + unpackedMost*int64(len(packed))}, cdxj.LineMax)
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

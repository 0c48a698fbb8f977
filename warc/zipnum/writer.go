package zipnum

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"orbweaver/internal/vfs"
)

// The files of a cluster.
const (
	IndexName = "cluster.idx"
	locName   = "cluster.loc"
)

// Defaults of Options.
const (
	blockLines = 3000
	partBytes  = 1 << 30
)

// Options of a cluster.
type Options struct {
	BlockLines int   // lines in a block; 3,000 by default, as Common Crawl has it
	PartBytes  int64 // length at which the next part begins; 1 GiB by default
}

// Result is what was written.
type Result struct {
	Lines, Blocks, Parts int
	Bytes                int64 // of the parts
}

// ErrOrder is returned for lines that are not sorted.
var ErrOrder = errors.New("the lines of the index are not sorted")

// writer writes a cluster.
type writer struct {
	fsys   vfs.FS
	dir    string
	o      Options
	index  io.Writer // of cluster.idx
	part   vfs.File  // the current one; nil before the first
	out    *bufio.Writer
	name   string // of the part
	offset int64  // in the part
	block  bytes.Buffer
	packed bytes.Buffer
	zip    *gzip.Writer
	key    []byte // of the block
	last   []byte // line
	lines  int    // in the block
	result Result
}

// Write writes a cluster into dir. each calls its argument with all lines, sorted, without their ends. cluster.idx is
// the last file: without it there is no cluster. A cluster that is there is not replaced.
func Write(fsys vfs.FS, dir string, o Options, each func(add func(line []byte) error) error) (Result, error) {
	if o.BlockLines == 0 {
		o.BlockLines = blockLines
	}
	if o.PartBytes == 0 {
		o.PartBytes = partBytes
	}
	if _, err := fsys.Size(path.Join(dir, IndexName)); err == nil {
		return Result{}, fmt.Errorf("%s is there already", path.Join(dir, IndexName))
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return Result{}, fmt.Errorf("zipnum: %w", err)
	}
	w := &writer{fsys: fsys, dir: dir, o: o}
	w.zip, _ = gzip.NewWriterLevel(&w.packed, gzip.DefaultCompression) // fails for other levels only
	err := vfs.WriteAtomic(fsys, path.Join(dir, IndexName), func(index io.Writer) error {
		w.index = index
		err := each(w.add)
		if err == nil {
			err = w.endBlock()
		}
		if err = errors.Join(err, w.endPart()); err != nil {
			return err
		}
		return w.writeLoc()
	})
	if err != nil {
		return Result{}, fmt.Errorf("zipnum: %w", err)
	}
	return w.result, nil
}

// IsPart reports whether a file has the name of a file of a cluster.
func IsPart(name string) bool {
	return name == IndexName || name == locName ||
		strings.HasPrefix(name, "cdx-") && strings.HasSuffix(name, ".gz")
}

// partName returns the name of a part.
func partName(n int) string { return fmt.Sprintf("cdx-%05d.gz", n) }

func (w *writer) add(line []byte) error {
	if bytes.Compare(line, w.last) < 0 {
		return ErrOrder
	}
	w.last = append(w.last[:0], line...)
	if w.lines == 0 {
		w.key = append(w.key[:0], keyOf(line)...)
	}
	w.block.Write(line)
	w.block.WriteByte('\n')
	if w.lines++; w.lines < w.o.BlockLines {
		return nil
	}
	return w.endBlock()
}

// keyOf returns the first two words of a line: SURT and time.
func keyOf(line []byte) []byte {
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		if j := bytes.IndexByte(line[i+1:], ' '); j >= 0 {
			return line[:i+1+j]
		}
	}
	return line
}

// endBlock writes the lines of the block.
func (w *writer) endBlock() error {
	if w.lines == 0 {
		return nil
	}
	if err := w.beginPart(); err != nil {
		return err
	}
	w.packed.Reset()
	w.zip.Reset(&w.packed)
	if _, err := w.zip.Write(w.block.Bytes()); err != nil {
		return err
	}
	if err := w.zip.Close(); err != nil {
		return err
	}
	if _, err := w.out.Write(w.packed.Bytes()); err != nil {
		return err
	}
	w.result.Blocks++
	_, err := fmt.Fprintf(w.index, "%s\t%s\t%d\t%d\t%d\n", w.key, w.name, w.offset, w.packed.Len(), w.result.Blocks)
	w.offset += int64(w.packed.Len())
	w.result.Bytes += int64(w.packed.Len())
	w.result.Lines += w.lines
	w.lines = 0
	w.block.Reset()
	return err
}

// beginPart opens the next part if there is none, or if the last one is full.
func (w *writer) beginPart() error {
	if w.part != nil && w.offset < w.o.PartBytes {
		return nil
	}
	if err := w.endPart(); err != nil {
		return err
	}
	w.name = partName(w.result.Parts)
	part, err := w.fsys.Create(path.Join(w.dir, w.name))
	if err != nil {
		return err
	}
	w.part, w.out, w.offset = part, bufio.NewWriterSize(part, 256<<10), 0
	w.result.Parts++
	return nil
}

// endPart makes the part durable.
func (w *writer) endPart() error {
	if w.part == nil {
		return nil
	}
	err := w.out.Flush()
	if err == nil {
		err = w.part.Sync()
	}
	err = errors.Join(err, w.part.Close())
	w.part = nil
	return err
}

// writeLoc lists the parts.
func (w *writer) writeLoc() error {
	return vfs.WriteAtomic(w.fsys, path.Join(w.dir, locName), func(out io.Writer) error {
		for n := range w.result.Parts {
			if _, err := fmt.Fprintf(out, "%[1]s\t%[1]s\n", partName(n)); err != nil {
				return err
			}
		}
		return nil
	})
}

package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orbweaver/internal/vfs"
)

// indexLineMax is the length in bytes of the longest line that is read.
const indexLineMax = 256 << 10

// ScanIndex calls f with each line of the index of a file in dir, including its end, and its decoded form. f borrows
// both. Without an index file, the index is made from the first counts bytes of the archive file, with all lines in
// memory. An error for damage wraps ErrField or a *Fault.
func ScanIndex(fsys vfs.FS, dir string, info FileInfo, counts int64, f func(line []byte, said *IndexLine) error) (err error) {
	var from io.Reader
	name := join(dir, info.Index())
	file, err := fsys.Open(name)
	switch {
	case err == nil && !info.Open:
		defer func() { err = errors.Join(err, file.Close()) }()
		from = file
	case err == nil: // of an unfinished file
		if err := file.Close(); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("warc: %w", err)
	}
	if from == nil {
		name = join(dir, info.Name)
		if from, err = makeIndex(fsys, name, info, counts); err != nil {
			return fmt.Errorf("warc: index of %s: %w", name, err)
		}
	}
	in := bufio.NewReaderSize(from, indexLineMax)
	for {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 { //nolint:errorlint // bufio's own word
			return nil
		}
		if err != nil {
			return fmt.Errorf("warc: %s: %w", name, err)
		}
		said, err := ParseIndexLine(line)
		if err != nil {
			return fmt.Errorf("warc: %s: %w", name, err)
		}
		if err := f(line, &said); err != nil {
			return err
		}
	}
}

// makeIndex returns the index of the first bytes of a file.
func makeIndex(fsys vfs.FS, name string, info FileInfo, counts int64) (_ *bytes.Buffer, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	z := NewReader(io.NewSectionReader(f, 0, min(size, counts)), ReaderOptions{Name: info.Name})
	defer z.Close()
	var b bytes.Buffer
	return &b, WriteIndex(&b, z, info.Final())
}

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
		var made bytes.Buffer
		err := ReadFile(fsys, dir, info, counts, ReaderOptions{}, func(z *Reader) error {
			return WriteIndex(&made, z, info.Final())
		})
		if err != nil {
			return fmt.Errorf("warc: index of %s: %w", name, err)
		}
		from = &made
	}
	return ScanIndexLines(from, func(line []byte, said *IndexLine, damage error) error {
		if damage != nil {
			return fmt.Errorf("warc: %s: %w", name, damage)
		}
		return f(line, said)
	})
}

// ScanIndexLines calls f with each line of an index, including its end, and its decoded form. f borrows both. damage is
// not nil for a line that is damaged, too long or without an end, and wraps ErrField; a line that is too long is passed
// in parts. An error of f or of reading ends the scan and is returned.
func ScanIndexLines(r io.Reader, f func(line []byte, said *IndexLine, damage error) error) error {
	in := bufio.NewReaderSize(r, indexLineMax)
	var said IndexLine // one for all lines, since f makes it escape
	for {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 { //nolint:errorlint // bufio returns it unwrapped
			return nil
		}
		if said = (IndexLine{}); err == nil {
			said, err = ParseIndexLine(line)
		} else if err == io.EOF || errors.Is(err, bufio.ErrBufferFull) { //nolint:errorlint // as above
			err = fmt.Errorf("%w: index line %.100q has no end", ErrField, line)
		} else {
			return err
		}
		if err := f(line, &said, err); err != nil {
			return err
		}
	}
}

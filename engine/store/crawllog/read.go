package crawllog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"orbweaver/internal/vfs"
)

// ErrRotated says that the log was rotated while it was read: what was read is not the whole log. Read it again.
var ErrRotated = errors.New("crawllog: the log was rotated while it was read")

// Numbers returns the numbers of the compressed files in dir, in order; none if dir does not exist.
func Numbers(fsys vfs.FS, dir string) ([]int, error) {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("crawllog: %w", err)
	}
	var numbers []int
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, FileName+".%d.gz", &n); err == nil && name == fmt.Sprintf(compressedName, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// currentNumber is the number of the current file beside the compressed ones.
func currentNumber(compressed []int) int {
	if len(compressed) == 0 {
		return 0
	}
	return compressed[len(compressed)-1] + 1
}

// in is where the position begins in a file.
func (p Position) in(file int) int64 {
	if file == p.File {
		return p.Offset
	}
	return 0
}

// compressedName is the name of a compressed file.
const compressedName = FileName + ".%05d.gz"

// lineMax is the largest line that is read, in bytes. A line has two URLs and a location of at most 8 KiB each.
const lineMax = 64 << 10

// A Reading is what Read has found besides whole lines.
type Reading struct {
	Damaged int64 // lines that cannot be read
}

// Read calls f with the lines of all files in dir, from a position on. The log may be in use: its last line may be
// incomplete, and is left out. f borrows the line. If there is no log, f is not called.
func Read(ctx context.Context, fsys vfs.FS, dir string, from Position, f func(l *Line) error) (r Reading, err error) {
	numbers, err := Numbers(fsys, dir)
	if err != nil {
		return r, err
	}
	for _, n := range numbers {
		if n < from.File {
			continue
		}
		if err := r.readCompressed(ctx, fsys, dir, n, from.in(n), f); err != nil {
			return r, err
		}
	}
	file, err := fsys.Open(dir + "/" + FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("crawllog: %w", err)
	}
	now := currentNumber(numbers)
	err = r.read(ctx, file, Position{now, from.in(now)}, f)
	if err = errors.Join(err, file.Close()); err != nil {
		return r, err
	}
	after, err := Numbers(fsys, dir)
	if err == nil && len(after) != len(numbers) {
		err = ErrRotated
	}
	return r, err
}

func (r *Reading) readCompressed(
	ctx context.Context, fsys vfs.FS, dir string, number int, skip int64, f func(l *Line) error,
) error {
	name := dir + "/" + fmt.Sprintf(compressedName, number)
	file, err := fsys.Open(name)
	if err != nil {
		return fmt.Errorf("crawllog: %w", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(bufio.NewReaderSize(file, 256<<10))
	if err != nil {
		return fmt.Errorf("crawllog: %s: %w", name, err)
	}
	return r.read(ctx, z, Position{number, skip}, f)
}

// read reads the lines of a file behind a position.
func (r *Reading) read(ctx context.Context, from io.Reader, at Position, f func(l *Line) error) error {
	in := bufio.NewReaderSize(from, max(lineMax, 256<<10))
	if _, err := io.CopyN(io.Discard, in, at.Offset); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("crawllog: %w", err)
	}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := in.ReadSlice('\n')
		at.Offset += int64(len(b))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			r.Damaged++
			for errors.Is(err, bufio.ErrBufferFull) {
				b, err = in.ReadSlice('\n')
				at.Offset += int64(len(b))
			}
		case err == nil:
			l, ok := Parse(bytes.TrimSuffix(b, []byte{'\n'}))
			if l.End = at; !ok {
				r.Damaged++
			} else if err := f(&l); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil // an incomplete line is still being written
		}
		if err != nil {
			return fmt.Errorf("crawllog: %w", err)
		}
	}
}

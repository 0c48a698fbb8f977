package crawllog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orbweaver/internal/vfs"
)

// Last calls f with the lines in the last bytes of the current file in dir. Compressed lines and
// damaged ones are left out. f borrows the line.
func Last(ctx context.Context, fsys vfs.FS, dir string, most int64, f func(l *Line) error) error {
	file, err := fsys.Open(dir + "/" + FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("crawllog: %w", err)
	}
	err = readLast(ctx, file, most, f)
	return errors.Join(err, file.Close())
}

func readLast(ctx context.Context, file vfs.File, most int64, f func(l *Line) error) error {
	size, err := file.Size()
	if err != nil {
		return fmt.Errorf("crawllog: %w", err)
	}
	from := max(size-most, 0)
	b := make([]byte, size-from)
	n, err := file.ReadAt(b, from)
	if err != nil && !errors.Is(err, io.EOF) { // it may have become shorter
		return fmt.Errorf("crawllog: %w", err)
	}
	if b = b[:n]; from > 0 { // the first line is not whole
		_, b, _ = bytes.Cut(b, []byte{'\n'})
	}
	return new(Reading).read(ctx, bytes.NewReader(b), Position{}, f)
}

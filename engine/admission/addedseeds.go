package admission

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// addedSeedsFile has the seeds that an operator added while the crawl ran, one URL in normal form a line. The next run
// moves them to the file of seeds. What follows the last line end is the rest of an append that a kill has ended.
func addedSeedsFile(dir string) string { return dir + "/seeds-added" }

// readAddedSeeds returns the lines of the file of added seeds; none if there is no file.
func readAddedSeeds(fsys vfs.FS, dir string) ([]byte, error) {
	lines, err := vfs.ReadFile(fsys, addedSeedsFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("engine: seeds: %w", err)
	}
	return lines[:bytes.LastIndexByte(lines, '\n')+1], nil
}

// appendAddedSeeds adds lines to the file of added seeds, and returns when they are durable.
func appendAddedSeeds(fsys vfs.FS, dir string, lines []byte) (err error) {
	if len(lines) == 0 {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("engine: seeds: %w", err)
		}
	}()
	f, err := fsys.OpenRW(addedSeedsFile(dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return err
	}
	tail := make([]byte, min(size, urlx.LengthMax+2))
	if len(tail) > 0 {
		if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
			return err
		}
	}
	end := size - int64(len(tail)-bytes.LastIndexByte(tail, '\n')-1) // behind the last whole line
	if end < size {
		if err := f.Truncate(end); err != nil {
			return err
		}
	}
	if _, err := f.WriteAt(lines, end); err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

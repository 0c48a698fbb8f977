package admission

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// AddedSeeds keeps the seeds that an operator adds while the crawl runs. It is safe for concurrent use.
type AddedSeeds struct {
	fs   vfs.FS
	dir  string
	turn chan struct{} // held while the file grows. No Mutex, since a disk may be slow in virtual time
}

// NewAddedSeeds returns the added seeds of a crawl. dir is frontier/.
func NewAddedSeeds(fsys vfs.FS, dir string) *AddedSeeds {
	return &AddedSeeds{fs: fsys, dir: dir, turn: make(chan struct{}, 1)}
}

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
		return nil, fmt.Errorf("admission: seeds: %w", err)
	}
	return lines[:bytes.LastIndexByte(lines, '\n')+1], nil
}

// keepLines adds lines to the file, and returns when they are durable.
func (a *AddedSeeds) keepLines(lines []byte) (err error) {
	if len(lines) == 0 {
		return nil
	}
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	if err := a.append(lines); err != nil {
		return fmt.Errorf("admission: seeds: %w", err)
	}
	return nil
}

func (a *AddedSeeds) append(lines []byte) (err error) {
	f, err := a.fs.OpenRW(addedSeedsFile(a.dir))
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
	return a.fs.SyncDir(a.dir)
}

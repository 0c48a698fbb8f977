package crawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/internal/vfs"
	"orbweaver/warc/lookup"
)

// OpenArchive returns the archive of the crawl directory. A running crawl is asked for its index; if none answers, the
// files are read.
func (t *Target) OpenArchive() (*lookup.Archive, error) {
	disk := vfs.Disk()
	dir, err := lookup.FindDir(disk, t.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no crawl in %s", t.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	}
	client, err := t.Client()
	if err != nil {
		return nil, err
	}
	files := lookup.NewFiles(lookup.Options{FS: disk, Dirs: []string{dir}})
	return lookup.New(files).WithLines(firstOf{client.Captures(), files}), nil
}

// firstOf takes the lines of a running crawl, or else those of its files.
type firstOf struct{ running, files lookup.Lines }

// Scan asks the running crawl. If it does not answer at all, the files are searched.
func (f firstOf) Scan(ctx context.Context, want lookup.Range, do func(line []byte) error) error {
	answered := false
	err := f.running.Scan(ctx, want, func(line []byte) error {
		answered = true
		return do(line)
	})
	if err == nil || answered || ctx.Err() != nil {
		return err
	}
	return f.files.Scan(ctx, want, do)
}

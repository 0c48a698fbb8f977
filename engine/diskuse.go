package engine

import (
	"errors"
	"io/fs"
	"log/slog"

	"orbweaver/internal/vfs"
)

// diskUse is how many bytes the files of the crawl directory have beside the archive: the frontier and the logs. Files that go while it
// looks count as gone. Space that a file has reserved counts: nothing else can use it.
func diskUse(fsys vfs.FS, dir string) (total int64, err error) {
	for _, part := range []string{FrontierDir, LogsDir} {
		n, err := treeBytes(fsys, dir+"/"+part)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// begin takes note of what earlier runs left.
func (l *limits) begin(archive int64, fsys vfs.FS, dir string, log *slog.Logger) {
	l.grown(archive)
	l.measure(fsys, dir, log)
}

// measure takes note of how large frontier and logs are, if there is a limit of the disk.
func (l *limits) measure(fsys vfs.FS, dir string, log *slog.Logger) {
	if l.diskMax == 0 {
		return
	}
	n, err := diskUse(fsys, dir)
	if err != nil {
		log.Warn("the size of frontier and logs cannot be measured: max-disk counts what it was before", "error", err)
		return
	}
	l.measured(n)
}

func treeBytes(fsys vfs.FS, dir string) (total int64, err error) {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		name = dir + "/" + name
		n, err := fsys.Size(name)
		if _, lerr := fsys.List(name); lerr == nil {
			n, err = treeBytes(fsys, name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		total += n
	}
	return total, nil
}

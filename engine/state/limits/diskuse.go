package limits

import (
	"errors"
	"io/fs"
	"log/slog"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// DiskUse is how many bytes the files of the crawl directory have beside the archive: the frontier and the logs. Files
// that go while it looks count as gone. Space that a file has reserved counts: nothing else can use it.
func DiskUse(fsys vfs.FS, dir string) (total int64, err error) {
	for _, part := range []string{layout.FrontierDir, layout.LogsDir} {
		n, err := treeBytes(fsys, dir+"/"+part)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// Begin takes note of what earlier runs left.
func (l *Limits) Begin(archive int64, fsys vfs.FS, dir string, log *slog.Logger) {
	l.mu.Lock()
	l.removed = l.space.Removed()
	l.mu.Unlock()
	l.Grown(archive)
	l.Measure(fsys, dir, log)
}

// Measure takes note of how large frontier and logs are, if there is a limit of the disk.
func (l *Limits) Measure(fsys vfs.FS, dir string, log *slog.Logger) {
	l.mu.Lock()
	isLimited := l.DiskMax > 0
	l.mu.Unlock()
	if !isLimited {
		return
	}
	n, err := DiskUse(fsys, dir)
	if err != nil {
		log.Warn("the size of frontier and logs cannot be measured: max-disk counts what it was before", "error", err)
		return
	}
	l.measured(n)
	l.tell(log)
}

// tell writes to the log when the crawl begins to wait at the limit of the disk, and when it goes on.
func (l *Limits) tell(log *slog.Logger) {
	l.mu.Lock()
	isShut, isSaid, used := l.isShut, l.isSaid, l.bytes+l.other-l.removed
	l.isSaid = isShut
	l.mu.Unlock()
	switch {
	case isShut && !isSaid:
		log.Warn("max-disk is reached: the crawl waits until WARC files are sent and removed", "bytes", used)
	case isSaid && !isShut:
		log.Info("sent WARC files were removed: the crawl goes on", "bytes", used)
	}
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

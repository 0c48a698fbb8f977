package virtualize

import (
	"errors"

	"orbweaver/internal/vfs"
)

// work is what the next Sync must make durable.
type work struct {
	segments map[*segment]struct{}
	index    string // name of the index file; empty if it has not changed
}

// sync syncs the segments, then the index file and the directory.
func (w work) sync(fsys vfs.FS, dir string) error {
	var errs []error
	for s := range w.segments {
		errs = append(errs, s.mapped.Sync())
	}
	if w.index != "" {
		errs = append(errs, syncFile(fsys, w.index), fsys.SyncDir(dir))
	}
	return errors.Join(errs...)
}

func syncFile(fsys vfs.FS, name string) error {
	file, err := fsys.OpenRW(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

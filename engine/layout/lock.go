package layout

import (
	"errors"
	"fmt"
	"io"

	"orbweaver/internal/vfs"
)

// Lock makes the crawl directory dir, if it is not there, and locks it until Close. ErrInUse says that another process
// works in it.
func Lock(fsys vfs.FS, dir string) (io.Closer, error) {
	for _, made := range []string{dir, dir + "/" + FrontierDir, dir + "/" + ArchiveDir, dir + "/" + LogsDir} {
		if err := fsys.MkdirAll(made); err != nil {
			return nil, fmt.Errorf("layout: crawl directory: %w", err)
		}
	}
	lock, err := fsys.Lock(dir + "/" + LockFile)
	if errors.Is(err, vfs.ErrLocked) {
		owner := ReadOwner(fsys, dir+"/"+FrontierDir)
		return nil, fmt.Errorf("%w (%s): %s; stop it, or give another --dir", ErrInUse, owner, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("layout: crawl directory: %w", err)
	}
	return lock, nil
}

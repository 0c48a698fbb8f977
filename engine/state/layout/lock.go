package layout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

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
		return nil, UsedBy(ReadOwner(fsys, dir+"/"+FrontierDir), dir)
	}
	if err != nil {
		return nil, fmt.Errorf("layout: crawl directory: %w", err)
	}
	return lock, nil
}

// InUse returns the line of the crawl that works in the directory dir; "" if none does. isAlive reports whether a
// process of this machine may be alive. Nothing is made, and the lock is tried only if the process of the line may be
// alive: a crawl that starts at this moment would find it taken.
func InUse(fsys vfs.FS, dir string, isAlive func(pid int) bool) (owner string, err error) {
	owner = ReadOwner(fsys, dir+"/"+FrontierDir)
	if pid, host, ok := parseOwner(owner); !ok || host == hostName() && !isAlive(pid) {
		return "", nil
	}
	name := dir + "/" + LockFile
	if _, err = fsys.Size(name); err == nil {
		var lock io.Closer
		if lock, err = fsys.Lock(name); err == nil {
			return "", lock.Close()
		}
	}
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return owner, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", fmt.Errorf("layout: crawl directory: %w", err)
	}
}

// UsedBy returns ErrInUse for a directory and the process that works in it.
func UsedBy(owner, dir string) error {
	return fmt.Errorf("%w (%s): %s; stop it with: orbweaver ctl --dir %s stop; or give another --dir",
		ErrInUse, owner, dir, dir)
}

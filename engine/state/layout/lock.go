package layout

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

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

// ownerName is a line that names the process that works in a crawl directory. It is for a message: only the lock
// counts, which ends with its process. A line that was left behind blocks no process.
func ownerName(dir string) string { return dir + "/owner" }

// WriteOwner names this process; boot may be empty.
func WriteOwner(fsys vfs.FS, dir, boot string) error {
	line := fmt.Sprintf("process %d", os.Getpid())
	if host := hostName(); host != "" {
		line += " on " + host
	}
	if boot != "" {
		line += ", boot " + boot
	}
	f, err := fsys.Create(ownerName(dir))
	if err != nil {
		return fmt.Errorf("layout: owner of the crawl directory: %w", err)
	}
	_, err = io.WriteString(f, line+"\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// ReadOwner returns that line for a message.
func ReadOwner(fsys vfs.FS, dir string) string {
	b, err := vfs.ReadFile(fsys, ownerName(dir))
	line, _, whole := strings.Cut(string(b), "\n")
	if err != nil || !whole || len(line) > 200 {
		return "the process is not known"
	}
	return line
}

// parseOwner reads a line of WriteOwner.
func parseOwner(line string) (pid int, host string, ok bool) {
	line, _, _ = strings.Cut(line, ", boot ")
	process, host, _ := strings.Cut(line, " on ")
	number, ok := strings.CutPrefix(process, "process ")
	pid, err := strconv.Atoi(number)
	return pid, host, ok && err == nil
}

// hostName returns the name of this machine; "" if it has none.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

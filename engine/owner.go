package engine

import (
	"fmt"
	"io"
	"os"
	"strings"

	"orbweaver/internal/vfs"
)

// Who works in a crawl directory: a line for whoever finds it locked. The lock is what counts; it goes with its
// process, and a line that was left behind blocks nobody.
func ownerName(dir string) string { return dir + "/owner" }

func writeOwner(fsys vfs.FS, dir string, boot BootClock) error {
	line := fmt.Sprintf("process %d", os.Getpid())
	if host, err := os.Hostname(); err == nil {
		line += " on " + host
	}
	if boot != nil {
		if id, _ := boot(); id != "" {
			line += ", boot " + id
		}
	}
	f, err := fsys.Create(ownerName(dir))
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, line+"\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// readOwner is for a message: what cannot be read is not known.
func readOwner(fsys vfs.FS, dir string) string {
	b, err := vfs.ReadFile(fsys, ownerName(dir))
	line, _, whole := strings.Cut(string(b), "\n")
	if err != nil || !whole || len(line) > 200 {
		return "which one is not known"
	}
	return line
}

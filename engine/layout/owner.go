package layout

import (
	"fmt"
	"io"
	"os"
	"strings"

	"orbweaver/internal/vfs"
)

// ownerName is a line that names the process that works in a crawl directory. It is for a message: only the lock
// counts, which ends with its process. A line that was left behind blocks no process.
func ownerName(dir string) string { return dir + "/owner" }

// WriteOwner names this process; boot may be empty.
func WriteOwner(fsys vfs.FS, dir, boot string) error {
	line := fmt.Sprintf("process %d", os.Getpid())
	if host, err := os.Hostname(); err == nil {
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

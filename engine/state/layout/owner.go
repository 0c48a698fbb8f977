package layout

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"orbweaver/internal/vfs"
)

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

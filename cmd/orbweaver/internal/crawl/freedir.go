package crawl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"orbweaver/engine/operate/inbox"
	"orbweaver/engine/state/layout"
)

// checkDir refuses a directory that holds other files and no crawl: it is most likely not the one that was meant. Files
// that the command itself is given, such as its seeds, hidden files and an inbox may be there.
func checkDir(dir string, given ...string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--dir: %w", err)
	}
	other := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case name == layout.FrontierDir, name == layout.ArchiveDir, name == layout.LogsDir, name == layout.SettingsFile:
			return nil // a crawl, or the begin of one
		case strings.HasPrefix(name, "."), name == "lost+found", name == inbox.Dir, isGiven(filepath.Join(dir, name), given):
		default:
			other = name
		}
	}
	if other == "" {
		return nil
	}
	return fmt.Errorf("--dir: %s holds %q and no crawl: give a new directory, or an empty one", dir, other)
}

func isGiven(name string, given []string) bool {
	info, err := os.Stat(name)
	if err != nil {
		return false
	}
	for _, g := range given {
		if other, err := os.Stat(g); g != "" && err == nil && os.SameFile(info, other) {
			return true
		}
	}
	return false
}

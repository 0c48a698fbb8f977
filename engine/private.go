package engine

import (
	"path/filepath"

	"orbweaver/engine/cluster/marks"
	"orbweaver/engine/layout"
	"orbweaver/internal/vfs"
)

// Disk returns the file system for the crawls in dirs. Only the owner may read what a crawl writes (settings, report,
// frontier, logs), except the archive and the lists of superseded captures: they follow the umask, since other programs
// replay and index them.
func Disk(dirs ...string) vfs.FS {
	var shared []string
	for _, dir := range dirs {
		for _, part := range []string{layout.ArchiveDir, marks.Dir} {
			shared = append(shared, filepath.ToSlash(filepath.Join(filepath.FromSlash(dir), part)))
		}
	}
	return vfs.PrivateDisk(shared...)
}

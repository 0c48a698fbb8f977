package journal

import (
	"fmt"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// ArchiveBytes adds up the WARC files of a directory.
func ArchiveBytes(fsys vfs.FS, dir string) (total int64, err error) {
	files, err := warc.Files(fsys, dir)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		n, err := fsys.Size(dir + "/" + f.Name)
		if err != nil {
			return 0, fmt.Errorf("journal: archive: %w", err)
		}
		total += n
	}
	return total, nil
}

package waczfs

import (
	"fmt"
	"slices"

	"orbweaver/internal/vfs"
)

// Homes returns the files that a WACZ consists of: itself, or a list of several and then the WACZ files that it names.
func Homes(fsys vfs.FS, name string) (files []string, err error) {
	l := newList()
	if err := l.read(fsys, name, ""); err != nil {
		return nil, fmt.Errorf("%s: no WACZ that can be read: %w", name, err)
	}
	files = []string{name}
	for _, p := range l.packages {
		if !slices.Contains(files, p.home) {
			files = append(files, p.home)
		}
	}
	return files, nil
}

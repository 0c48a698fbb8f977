package layout

import (
	"fmt"
	"strings"

	"orbweaver/internal/vfs"
)

// EachGeneration calls f for the files of the workbench, of URLs in flight, of the outbox and of the journal.
func EachGeneration(fsys vfs.FS, dir string, f func(name, kind string, generation uint64) error) error {
	names, err := fsys.List(dir)
	if err != nil {
		return fmt.Errorf("layout: checkpoint: %w", err)
	}
	for _, name := range names {
		for _, kind := range []string{"bench-", "aloft-", "outbox-", "journal-"} {
			var g uint64
			number, ok := strings.CutPrefix(name, kind)
			if !ok {
				continue
			}
			if _, err := fmt.Sscanf(number, "%d", &g); err != nil {
				continue
			}
			if err := f(dir+"/"+name, kind, g); err != nil {
				return fmt.Errorf("layout: checkpoint: %w", err)
			}
		}
	}
	return nil
}

// RemoveOlder deletes the files of generations before keep, except workbench files whose generation is named.
func RemoveOlder(fsys vfs.FS, dir string, keep uint64, named func(generation uint64) bool) error {
	return EachGeneration(fsys, dir, func(name, kind string, g uint64) error {
		if g >= keep || (kind == "bench-" && named(g)) {
			return nil
		}
		return vfs.RemoveIfExists(fsys, name)
	})
}

// Youngest is the highest generation that any file has. A new one must be higher: what a power cut left of an older
// file of the same name could show through.
func Youngest(fsys vfs.FS, dir string) (generation uint64, err error) {
	err = EachGeneration(fsys, dir, func(_, _ string, g uint64) error {
		generation = max(generation, g)
		return nil
	})
	return generation, err
}

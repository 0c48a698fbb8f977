package warctool

import (
	"errors"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/zipnum"
)

// WriteCluster writes the index of many WARC files into dir, as a ZipNum cluster. The indexes beside the files are
// used; a file without one is read. Memory does not grow with the number of files or lines: temporary files take the
// size of the indexes.
func WriteCluster(fsys vfs.FS, dir string, files ...string) (r zipnum.Result, err error) {
	x := newIndexes(fsys, files, warc.StopAtDamage)
	defer func() { err = errors.Join(err, x.scratch.Close()) }()
	lines, err := x.sorted(files)
	if err != nil {
		return r, err
	}
	return zipnum.Write(fsys, dir, zipnum.Options{}, func(add func([]byte) error) error {
		return eachSorted(lines, add)
	})
}

// eachSorted calls f with each line in order, until f returns an error.
func eachSorted(lines *extsort.Lines, f func(line []byte) error) error {
	for line, err := range lines.Sorted() {
		if err == nil {
			err = f(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package warctool

import (
	"errors"

	"orbweaver/internal/extsort"
	"orbweaver/warc"
	"orbweaver/warc/zipnum"
)

// WriteCluster writes the index of many WARC files into dir, as a ZipNum cluster. The indexes beside the files are
// used; a file without one is read. Faults are written to Err, and the cluster has all other records; the error then
// is ErrFaults. Memory does not grow with the number of files or lines: temporary files take the size of the indexes.
func (t *Tool) WriteCluster(dir string, files ...string) (r zipnum.Result, err error) {
	faulty := false
	x := newIndexes(t.FS, files, func(f *warc.Fault) error {
		faulty = true
		t.complain(f)
		return nil
	})
	defer func() { err = errors.Join(err, x.scratch.Close()) }()
	lines, err := x.sorted(files)
	if err != nil {
		return r, err
	}
	r, err = zipnum.Write(t.FS, dir, zipnum.Options{}, func(add func([]byte) error) error {
		return eachSorted(lines, add)
	})
	if err == nil && faulty {
		err = ErrFaults
	}
	return r, err
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

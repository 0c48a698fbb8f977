package warctool

import (
	"bufio"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/zipnum"
)

// mergeMost is how many sorted files are merged at once: each takes a file descriptor and at most 256 KiB.
const mergeMost = 128

// WriteCluster writes the index of many WARC files into dir, as a ZipNum cluster. The indexes beside the files are
// merged; a file without one is read. Memory does not grow with the number of files or lines. Temporary files take the
// size of the indexes if there are more than 128.
func WriteCluster(fsys vfs.FS, dir string, files ...string) (zipnum.Result, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return zipnum.Result{}, err
	}
	s := &lineSorter{fsys: fsys, dir: dir, most: mergeMost}
	err := s.collect(files)
	var r zipnum.Result
	if err == nil {
		r, err = zipnum.Write(fsys, dir, zipnum.Options{}, func(add func([]byte) error) error {
			return s.merge(s.sorted, add)
		})
	}
	return r, errors.Join(err, s.remove())
}

// lineSorter merges sorted files of lines in rounds.
type lineSorter struct {
	fsys      vfs.FS
	dir       string
	most      int
	sorted    []string
	temporary []string
}

// collect makes at most most sorted files of the indexes.
func (s *lineSorter) collect(files []string) error {
	for _, name := range files {
		index := warc.IndexName(name)
		if _, err := s.fsys.Size(index); errors.Is(err, fs.ErrNotExist) {
			if index, err = s.write(func(w io.Writer) error { return s.index(w, name) }); err != nil {
				return err
			}
		}
		s.sorted = append(s.sorted, index)
	}
	for len(s.sorted) > s.most {
		round := s.sorted[:s.most]
		merged, err := s.write(func(w io.Writer) error {
			return s.merge(round, func(line []byte) error { _, err := w.Write(line); return err })
		})
		if err != nil {
			return err
		}
		s.sorted = append(s.sorted[s.most:], merged)
	}
	return nil
}

// index reads a WARC file.
func (s *lineSorter) index(w io.Writer, name string) error {
	f, err := s.fsys.Open(name)
	if err != nil {
		return err
	}
	z := warc.NewReader(f, warc.ReaderOptions{Name: path.Base(name)})
	defer z.Close()
	return errors.Join(warc.WriteIndex(w, z, path.Base(name), warc.StopAtDamage), f.Close())
}

// write writes a temporary file.
func (s *lineSorter) write(lines func(io.Writer) error) (name string, err error) {
	name = path.Join(s.dir, fmt.Sprintf("merge-%05d.tmp", len(s.temporary)))
	f, err := s.fsys.Create(name)
	if err != nil {
		return "", err
	}
	s.temporary = append(s.temporary, name)
	out := bufio.NewWriterSize(f, 256<<10)
	if err = lines(out); err == nil {
		err = out.Flush()
	}
	return name, errors.Join(err, f.Close())
}

// merge calls add with all lines of sorted files, in order.
func (s *lineSorter) merge(files []string, add func([]byte) error) error {
	m := new(indexMerge)
	for _, name := range files {
		f, err := s.fsys.Open(name)
		if err != nil {
			return errors.Join(err, m.close())
		}
		source := &indexSource{lines: bufio.NewScanner(f), close: f.Close}
		source.lines.Buffer(nil, indexLineMax)
		switch more, err := source.next(); {
		case err != nil:
			return errors.Join(fmt.Errorf("%s: %w", name, err), f.Close(), m.close())
		case more:
			m.sources = append(m.sources, source)
		default:
			if err := f.Close(); err != nil {
				return errors.Join(err, m.close())
			}
		}
	}
	heap.Init(m)
	return errors.Join(m.each(add), m.close())
}

// remove removes the temporary files.
func (s *lineSorter) remove() (err error) {
	for _, name := range s.temporary {
		err = errors.Join(err, vfs.RemoveIfExists(s.fsys, name))
	}
	return err
}

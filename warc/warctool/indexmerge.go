package warctool

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/lookup"
)

// indexMerge reads the lines of several sorted indexes as one.
type indexMerge struct{ sources []*indexSource }

// indexSource is an index with its next line.
type indexSource struct {
	lines *bufio.Scanner
	close func() error
	line  []byte
}

// indexLineMax is the length in bytes of the longest line.
const indexLineMax = 256 << 10

// indexes are the indexes of WARC files: those beside the files, or made from them.
type indexes struct {
	fsys vfs.FS
	all  []string          // names of the files
	made map[string][]byte // of files without an index, compressed

	onDamage func(*warc.Fault) // is told of the damage of these
}

// newIndexes returns the indexes of files.
func newIndexes(fsys vfs.FS, files []string, onDamage func(*warc.Fault)) *indexes {
	return &indexes{fsys: fsys, all: files, made: make(map[string][]byte), onDamage: onDamage}
}

// open opens the index of a file. Without one it is made, and kept: some 4 MB for 1 GiB of WARC files.
func (x *indexes) open(name string) (*indexSource, error) {
	f, err := x.fsys.Open(warc.IndexName(name))
	switch {
	case err == nil:
		return newIndexSource(f, f.Close), nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case x.made[name] == nil:
		if err := x.make(name); err != nil {
			return nil, err
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(x.made[name]))
	if err != nil {
		return nil, err
	}
	return newIndexSource(z, z.Close), nil
}

// make makes the index of a file.
func (x *indexes) make(name string) error {
	archive, err := x.fsys.Open(name)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	z := warc.NewReader(archive, warc.ReaderOptions{Name: path.Base(name)})
	err = warc.WriteIndex(w, z, path.Base(name), func(f *warc.Fault) error {
		x.onDamage(f)
		return nil
	})
	z.Close()
	if err := errors.Join(err, w.Close(), archive.Close()); err != nil {
		return err
	}
	x.made[name] = packed.Bytes()
	return nil
}

// each calls f with each line of one index, with its end.
func (x *indexes) each(name string, f func(line []byte)) error {
	s, err := x.open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	more, err := s.next()
	for more {
		f(s.line)
		more, err = s.next()
	}
	if err = errors.Join(err, s.close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// merge calls f with each line of the indexes of files, and of lines of a file that is called name, in order.
func (x *indexes) merge(files []string, lines *cdxj.Lines, name string, f func(line []byte) error) error {
	var sorted bytes.Buffer
	if err := lines.WriteSorted(&sorted, name); err != nil {
		return err
	}
	m := new(indexMerge)
	err := m.add(newIndexSource(&sorted, func() error { return nil }))
	for i := 0; err == nil && i < len(files); i++ {
		var s *indexSource
		if s, err = x.open(files[i]); err == nil {
			err = m.add(s)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", files[i], err)
		}
	}
	if err == nil {
		heap.Init(m)
		err = m.each(f)
	}
	return errors.Join(err, m.close())
}

func newIndexSource(from io.Reader, end func() error) *indexSource {
	s := &indexSource{lines: bufio.NewScanner(from), close: end}
	s.lines.Buffer(nil, indexLineMax)
	return s
}

// add adds an index, unless it is empty.
func (m *indexMerge) add(s *indexSource) error {
	more, err := s.next()
	if !more {
		return errors.Join(err, s.close())
	}
	m.sources = append(m.sources, s)
	return nil
}

// next reads the next line, and says whether there is one.
func (s *indexSource) next() (bool, error) {
	if !s.lines.Scan() {
		return false, s.lines.Err()
	}
	s.line = append(append(s.line[:0], s.lines.Bytes()...), '\n')
	return true, nil
}

// Len, Less, Swap, Push and Pop are those of heap.Interface.
func (m *indexMerge) Len() int { return len(m.sources) }

// Less says which line comes first.
func (m *indexMerge) Less(i, j int) bool {
	return bytes.Compare(m.sources[i].line, m.sources[j].line) < 0
}

// Swap swaps two sources.
func (m *indexMerge) Swap(i, j int) { m.sources[i], m.sources[j] = m.sources[j], m.sources[i] }

// Push is not used.
func (m *indexMerge) Push(any) {}

// Pop removes the last source.
func (m *indexMerge) Pop() any {
	last := len(m.sources) - 1
	s := m.sources[last]
	m.sources = m.sources[:last]
	return s
}

// each calls f with each line, in order, with its end.
func (m *indexMerge) each(f func(line []byte) error) error {
	for len(m.sources) > 0 {
		s := m.sources[0]
		if err := f(s.line); err != nil {
			return err
		}
		more, err := s.next()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(m, 0)
			continue
		}
		heap.Pop(m)
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// close closes what is still open.
func (m *indexMerge) close() (err error) {
	for _, s := range m.sources {
		err = errors.Join(err, s.close())
	}
	m.sources = nil
	return err
}

// parsePage reads a line, and says whether it is of a page that was found.
func parsePage(line []byte) (c lookup.Capture, ok bool) {
	c, err := lookup.ParseCapture(line)
	return c, err == nil && c.Status == http200 && len(c.Method) == 0 && isPage(string(c.MIME))
}

// isNotModified reports whether a line is of a revisit record with an answer 304.
func isNotModified(line []byte) bool {
	if !bytes.Contains(line, []byte("warc/revisit")) {
		return false
	}
	c, err := lookup.ParseCapture(line)
	return err == nil && c.Revisit && c.Status == http304
}

// timeOf returns the time of an index line as a list of pages has it; "" for none.
func timeOf(stamp string) string {
	at, err := time.Parse("20060102150405", stamp)
	if err != nil {
		return ""
	}
	return at.Format(time.RFC3339)
}

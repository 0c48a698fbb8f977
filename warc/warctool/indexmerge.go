package warctool

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
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

// openIndexes opens the index beside each file, or makes one in memory.
func openIndexes(fsys vfs.FS, files []string) (*indexMerge, error) {
	m := new(indexMerge)
	for _, name := range files {
		s, err := openIndex(fsys, name)
		if err == nil {
			var more bool
			if more, err = s.next(); more {
				m.sources = append(m.sources, s)
				continue
			}
			err = errors.Join(err, s.close())
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), m.close())
		}
	}
	heap.Init(m)
	return m, nil
}

func openIndex(fsys vfs.FS, name string) (*indexSource, error) {
	var from io.Reader
	s := &indexSource{close: func() error { return nil }}
	f, err := fsys.Open(warc.IndexName(name))
	switch {
	case err == nil:
		from, s.close = f, f.Close
	case errors.Is(err, fs.ErrNotExist):
		var made bytes.Buffer
		archive, err := fsys.Open(name)
		if err != nil {
			return nil, err
		}
		z := warc.NewReader(archive, warc.ReaderOptions{Name: path.Base(name)})
		err = warc.WriteIndex(&made, z, path.Base(name))
		z.Close()
		if err = errors.Join(err, archive.Close()); err != nil {
			return nil, err
		}
		from = &made
	default:
		return nil, err
	}
	s.lines = bufio.NewScanner(from)
	s.lines.Buffer(nil, indexLineMax)
	return s, nil
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

// pageLine is an index line of a page.
type pageLine struct {
	URL    string `json:"url"`
	MIME   string `json:"mime"`
	Status string `json:"status"`
	Digest string `json:"digest"`
	File   string `json:"filename"`
	Offset string `json:"offset"`
	Length string `json:"length"`
	stamp  string
}

// parsePage reads a line, and says whether it is of an HTML page that was found.
func parsePage(line []byte) (l pageLine, ok bool) {
	brace := bytes.IndexByte(line, '{')
	key := bytes.Fields(line[:max(brace, 0)])
	if len(key) != 2 || json.Unmarshal(line[brace:], &l) != nil {
		return l, false
	}
	l.stamp = string(key[1])
	return l, l.Status == "200" && (l.MIME == "text/html" || l.MIME == "application/xhtml+xml")
}

// isNotModified reports whether a line is of a revisit record with an answer 304.
func isNotModified(line []byte) bool {
	if !bytes.Contains(line, []byte("warc/revisit")) {
		return false
	}
	l, _ := parsePage(line)
	return l.MIME == "warc/revisit" && l.Status == "304"
}

func (l *pageLine) time() string {
	at, err := time.Parse("20060102150405", l.stamp)
	if err != nil {
		return ""
	}
	return at.Format(time.RFC3339)
}

func (l *pageLine) length() int64 { return number(l.Length) }

// number reads a number of an index line, 0 if it is unknown.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

package lookup

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/member"
	"orbweaver/warc/openindex"
	"orbweaver/warc/waczfs"
)

// keepMost is how much memory the lines of files without index take, in bytes.
const keepMost = 512 << 20

// scanned are the lines of a file without index.
type scanned struct {
	lines cdxj.Lines
	read  int64 // length of the part of the file that was read: complete records
	size  int64 // of the file then

	shared bool // records lie in members with others

	toldEnd  int64 // end of the part whose lines come from the file beside it, not from its records
	distrust bool  // that file is false
}

// linesOf returns the lines of a file without index, at least those of the range. A file that has grown is read from
// where it ended.
func (f *Files) linesOf(file archiveFile, want Range) (*cdxj.Lines, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.scanned[file.path]
	keep := s != nil || f.kept < keepMost
	if s == nil {
		s = new(scanned)
	}
	before := s.lines.Memory()
	from, err := f.o.FS.Open(file.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // opened for reading
	size, err := from.Size()
	if err != nil {
		return nil, err
	}
	if size < s.size || size > s.size && s.shared { // it was cut by a crawl that was resumed, or cannot be read from there
		s = new(scanned)
	}
	words, _, err := member.ReadDictionary(from)
	if err != nil {
		return nil, err
	}
	isKept := func(line []byte) bool { return keep || want.has(line) }
	if file.open && s.read == 0 && !s.distrust {
		part := openindex.Read(f.o.FS, warc.IndexName(file.path)+openindex.Suffix, from, size, isKept)
		s.lines, s.read, s.toldEnd = part.Lines, part.End, part.End
	}
	if !file.open && s.size == 0 && !s.distrust {
		f.told(s, file, size, isKept)
	}
	if s.toldEnd > 0 && !s.agrees(from, words, want) {
		f.o.OnFault(&warc.Fault{Kind: warc.ErrReference, File: file.name, What: "what the index has of it is not there: " +
			"its records are read"})
		s = &scanned{distrust: true}
	}
	if size == s.size {
		return s.lines.Snapshot(), nil
	}
	z := warc.NewReader(io.NewSectionReader(from, s.read, size-s.read), warc.ReaderOptions{
		Name: file.name, Base: s.read, Dictionary: words,
	})
	defer z.Close()
	err = s.add(z, isKept, func(fault *warc.Fault) error {
		if !file.open { // the end of an open file may be torn
			f.o.OnFault(fault)
		}
		return nil
	})
	if keep { // also after an error: what was read of the file is not read again
		f.scanned[file.path] = s
		f.kept += s.lines.Memory() - before
	}
	if err != nil {
		return nil, err
	}
	s.size = size
	return s.lines.Snapshot(), nil
}

// told takes the lines that the index of a WACZ has of a file in it.
func (f *Files) told(s *scanned, file archiveFile, size int64, keep func(line []byte) bool) {
	lines, err := vfs.ReadFile(f.o.FS, file.path+waczfs.LinesSuffix)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.o.OnFault(&warc.Fault{Kind: warc.ErrReference, File: file.name, What: err.Error()})
		}
		return
	}
	var last []byte
	for line := range bytes.Lines(lines) {
		isRepeated := bytes.Equal(line, last) // js-wacz 0.1.6 has the last line of a block in the next one, too
		last = line
		c, err := ParseCapture(bytes.TrimRight(line, "\r\n"))
		if err != nil || isRepeated || !keep(line) {
			continue
		}
		if c.Offset >= size {
			f.o.OnFault(&warc.Fault{Kind: warc.ErrReference, File: file.name, What: "the index has a record of it beyond its " +
				"end: its records are read"})
			*s = scanned{distrust: true}
			return
		}
		e := cdxj.Entry{URI: c.URL, Status: c.Status, MIME: c.MIME, Digest: c.Digest, Method: string(c.Method)}
		whole := e.Append(nil)
		whole = append([]byte(c.Key+" "+c.Stamp+" "), whole[bytes.IndexByte(whole, '{'):]...)
		s.lines.Add(whole, c.Offset, c.Length)
	}
	s.read, s.toldEnd = size, size
}

// checkedMost is how many of the told lines of a range are compared with their records.
const checkedMost = 64

// agrees compares lines of a range that another file told with their records.
func (s *scanned) agrees(from io.ReaderAt, words []byte, want Range) bool {
	order := s.lines.Range(want.From, want.To)
	step := max(1, len(order)/checkedMost)
	z := warc.NewReader(bytes.NewReader(nil), warc.ReaderOptions{})
	defer z.Close()
	for i := 0; i < len(order); i += step {
		offset := cdxj.Offset(s.lines.Line(order[i]))
		if offset >= s.toldEnd {
			continue
		}
		c, err := ParseCapture(cdxj.Complete(nil, s.lines.Line(order[i]), ""))
		if err != nil {
			return false
		}
		z.Reset(io.NewSectionReader(from, offset, s.toldEnd-offset), warc.ReaderOptions{Base: offset, Dictionary: words})
		rec, err := z.Next()
		if err != nil || rec.Offset != offset || !isRecordOf(rec, &c) {
			return false
		}
	}
	return true
}

// add adds the lines of the records of z for which keep is true. A damaged record is left out. A record that is cut
// short at the end is read again when there is more.
func (s *scanned) add(z *warc.Reader, keep func(line []byte) bool, onDamage func(*warc.Fault) error) error {
	var line []byte
	return warc.ScanEntries(z, func(rec *warc.RecordRead, c *cdxj.Entry) (bool, error) {
		s.read, s.shared = rec.Offset+rec.Length, s.shared || rec.Shared
		return c != nil, nil
	}, func(entry *cdxj.Entry, offset, length int64) {
		if line = entry.Append(line[:0]); keep(line) {
			s.lines.Add(line, offset, length)
		}
	}, onDamage)
}

// linesCursor reads lines that are in memory.
type linesCursor struct {
	lines *cdxj.Lines
	order []int
	file  string
	now   []byte
	buf   []byte
}

func newLinesCursor(lines *cdxj.Lines, want Range, file string) *linesCursor {
	c := &linesCursor{lines: lines, order: lines.Range(want.From, want.To), file: file}
	_ = c.next() // it is in memory
	return c
}

func (c *linesCursor) line() []byte { return c.now }

func (c *linesCursor) next() error {
	if c.now = nil; len(c.order) > 0 {
		c.buf = cdxj.Complete(c.buf[:0], c.lines.Line(c.order[0]), c.file)
		c.now, c.order = c.buf, c.order[1:]
	}
	return nil
}

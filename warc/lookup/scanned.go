package lookup

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/member"
	"orbweaver/warc/openindex"
	"orbweaver/warc/waczfs"
)

// Memory of the lines of files without index, in bytes: of one file, and of all. What is more is in a temporary file.
const (
	scannedMost = 16 << 20
	keepMost    = 48 << 20
)

// scanned are the lines of a file without index.
type scanned struct {
	file  archiveFile
	lines *extsort.Lines
	read  int64 // length of the part of the file that was read: complete records
	size  int64 // of the file then

	shared bool // records lie in members with others

	toldEnd  int64 // end of the part whose lines come from the file beside it, not from its records
	distrust bool  // that file is false
}

func (f *Files) newScanned(file archiveFile) *scanned {
	return &scanned{file: file, lines: extsort.NewLines(f.scratch, scannedMost)}
}

// linesOf returns the lines of a file without index. The lines of a range are compared with records if they come from
// another file. A file that has grown is read from where it ended.
func (f *Files) linesOf(file archiveFile, want Range) (*extsort.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.scanned[file.path]
	s := before
	if s == nil {
		s = f.newScanned(file)
	} else {
		f.kept -= s.lines.Memory()
	}
	s, err := f.scan(s, want)
	if s == nil {
		delete(f.scanned, file.path)
		return nil, err
	}
	if f.kept+s.lines.Memory() > keepMost {
		err = errors.Join(err, s.lines.Flush())
	}
	f.scanned[file.path] = s // also after an error: what was read of the file is not read again
	view := s.lines.View()
	f.kept += s.lines.Memory()
	return view, err
}

// scan reads what is new of a file. It returns nil if that cannot be opened.
func (f *Files) scan(s *scanned, want Range) (*scanned, error) {
	file := s.file
	from, err := f.o.FS.Open(file.path)
	if err != nil {
		return nil, warc.Unopened(file.path, err)
	}
	defer func() { _ = from.Close() }() // opened for reading
	size, err := from.Size()
	if err != nil {
		return nil, err
	}
	if size < s.size || size > s.size && s.shared { // it was cut by a crawl that was resumed, or cannot be read from there
		s = f.newScanned(file)
	}
	words, _, err := member.ReadDictionary(from)
	if err != nil { // reading the records says it
		words = nil
	}
	switch {
	case s.distrust:
	case file.open && s.read == 0:
		part := openindex.Read(f.o.FS, warc.IndexName(file.path)+openindex.Suffix, from, size)
		var whole []byte
		for i := range part.Lines.Len() {
			whole = cdxj.Complete(whole[:0], part.Lines.Line(i), file.name)
			if err := s.lines.Add(whole); err != nil {
				return s, err
			}
		}
		s.read, s.toldEnd = part.End, part.End
	case !file.open && s.size == 0:
		if s, err = f.told(s, size); err != nil {
			return s, err
		}
	}
	if s.toldEnd > 0 && !s.agrees(from, words, want) {
		f.o.OnFault(&warc.Fault{Kind: warc.ErrReference, File: file.name, What: "what the index has of it is not there: " +
			"its records are read"})
		s = f.newScanned(file)
		s.distrust = true
	}
	if size == s.size {
		return s, nil
	}
	z := warc.NewReader(io.NewSectionReader(from, s.read, size-s.read), warc.ReaderOptions{
		Name: file.name, Base: s.read, Dictionary: words,
	})
	defer z.Close()
	err = s.add(z, func(fault *warc.Fault) error {
		if !file.open { // the end of an open file may be torn
			f.o.OnFault(fault)
		}
		return nil
	})
	if err == nil {
		s.size = size
	}
	return s, err
}

// told takes the lines that the index of a WACZ has of a file in it.
func (f *Files) told(s *scanned, size int64) (*scanned, error) {
	file := s.file
	lines, err := vfs.ReadFile(f.o.FS, file.path+waczfs.LinesSuffix)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.o.OnFault(&warc.Fault{Kind: warc.ErrReference, File: file.name, What: err.Error()})
		}
		return s, nil
	}
	var last, entry, whole []byte
	for line := range bytes.Lines(lines) {
		isRepeated := bytes.Equal(line, last) // js-wacz 0.1.6 has the last line of a block in the next one, too
		last = line
		c, err := ParseCapture(bytes.TrimRight(line, "\r\n"))
		if err != nil || isRepeated {
			continue
		}
		if c.Offset >= size {
			f.o.OnFault(&warc.Fault{Kind: warc.ErrReference, File: file.name, What: "the index has a record of it beyond its " +
				"end: its records are read"})
			s = f.newScanned(file)
			s.distrust = true
			return s, nil
		}
		e := cdxj.Entry{URI: c.URL, Status: c.Status, MIME: c.MIME, Digest: c.Digest, Method: string(c.Method)}
		entry = e.Append(entry[:0])
		whole = append(whole[:0], c.Key+" "+c.Stamp+" "...)
		whole = cdxj.AppendLine(whole, entry[bytes.IndexByte(entry, '{'):], c.Offset, c.Length, file.name)
		if err := s.lines.Add(whole); err != nil {
			return s, err
		}
	}
	s.read, s.toldEnd = size, size
	return s, nil
}

// checkedMost is how many of the told lines of a range are compared with their records.
const checkedMost = 64

// agrees compares lines of a range that another file told with their records.
func (s *scanned) agrees(from io.ReaderAt, words []byte, want Range) bool {
	view, n := s.lines.View(), 0
	count := func([]byte) error {
		n++
		return nil
	}
	if eachLine(view, want, count) != nil {
		return false
	}
	step := max(1, n/checkedMost)
	z := warc.NewReader(bytes.NewReader(nil), warc.ReaderOptions{})
	defer z.Close()
	n = -1
	return nil == eachLine(view, want, func(line []byte) error {
		if n++; n%step != 0 {
			return nil
		}
		c, err := ParseCapture(line)
		if err != nil || c.Offset >= s.toldEnd {
			return err
		}
		z.Reset(io.NewSectionReader(from, c.Offset, s.toldEnd-c.Offset),
			warc.ReaderOptions{Base: c.Offset, Dictionary: words})
		rec, err := z.Next()
		if err != nil {
			return err
		}
		if rec.Offset != c.Offset || !isRecordOf(rec, &c) {
			return ErrIndex
		}
		return nil
	})
}

// eachLine calls do with the lines of a range, until it returns an error.
func eachLine(view *extsort.View, want Range, do func(line []byte) error) error {
	m, err := view.Open(want.From, want.To, chunkMost)
	for ; err == nil && m.Line() != nil; err = m.Next() {
		if err := do(m.Line()); err != nil {
			return err
		}
	}
	return err
}

// add adds the lines of the records of z. A damaged record is left out. A record that is cut short at the end is read
// again when there is more.
func (s *scanned) add(z *warc.Reader, onDamage func(*warc.Fault) error) error {
	var entry, line []byte
	var failed error
	err := warc.ScanEntries(z, func(rec *warc.RecordRead, c *cdxj.Entry) (bool, error) {
		s.read, s.shared = rec.Offset+rec.Length, s.shared || rec.Shared
		return c != nil, failed
	}, func(c *cdxj.Entry, offset, length int64) {
		entry = c.Append(entry[:0])
		line = cdxj.AppendLine(line[:0], entry, offset, length, s.file.name)
		failed = cmp.Or(failed, s.lines.Add(line))
	}, onDamage)
	return cmp.Or(err, failed)
}

// linesCursor reads the lines of a Writer.
type linesCursor struct {
	lines *cdxj.Lines
	order []int
	file  string
	now   []byte
	buf   []byte
}

func newLinesCursor(lines *cdxj.Lines, want Range, file string) *linesCursor {
	c := &linesCursor{lines: lines, order: lines.Range(want.From, want.To), file: file}
	_ = c.Next() // it is in memory
	return c
}

// Line implements extsort.Source.
func (c *linesCursor) Line() []byte { return c.now }

// Next implements extsort.Source.
func (c *linesCursor) Next() error {
	if c.now = nil; len(c.order) > 0 {
		c.buf = cdxj.Complete(c.buf[:0], c.lines.Line(c.order[0]), c.file)
		c.now, c.order = c.buf, c.order[1:]
	}
	return nil
}

package warc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc/block"
	"orbweaver/warc/cdxj"
)

// ScanIndex calls f with each line of the index of a file in dir, including its end, and its decoded form. f borrows
// both. Without an index file, the index is made from the first counts bytes of the archive file, with all lines in
// memory. An error for damage wraps cdxj.ErrLine or a *Fault.
func ScanIndex(
	fsys vfs.FS,
	dir string,
	info FileInfo,
	counts int64,
	f func(line []byte, said *cdxj.Line) error,
) (err error) {
	var from io.Reader
	name := join(dir, info.Index())
	file, err := fsys.Open(name)
	switch {
	case err == nil && !info.Open:
		defer func() { err = errors.Join(err, file.Close()) }()
		from = file
	case err == nil: // of an unfinished file
		if err := file.Close(); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("warc: %w", err)
	}
	if from == nil {
		name = join(dir, info.Name)
		if from, err = makeIndex(fsys, dir, info, counts); err != nil {
			return fmt.Errorf("warc: index of %s: %w", name, err)
		}
	}
	return cdxj.ScanLines(from, func(line []byte, said *cdxj.Line, damage error) error {
		if damage != nil {
			return fmt.Errorf("warc: %s: %w", name, damage)
		}
		return f(line, said)
	})
}

// makeIndex makes the index of the first counts bytes of a file. Of an open file only the end is read: see rebuild.
func makeIndex(fsys vfs.FS, dir string, info FileInfo, counts int64) (_ io.Reader, err error) {
	f := newOutFile(fsys, dir, info, nil)
	if f.f, err = fsys.Open(join(dir, info.Name)); err != nil {
		return nil, err
	}
	defer func() { _ = f.f.Close() }() // opened for reading
	size, err := f.f.Size()
	if err != nil {
		return nil, err
	}
	size = min(size, counts)
	_, good, err := f.rebuild(size)
	if err = f.whole(good, size, err); err != nil {
		return nil, err
	}
	var made bytes.Buffer
	return &made, f.index.WriteSorted(&made, info.Final())
}

// IndexEntry returns the index entry of a record that was read, and reads the head of its block. ok is false for
// records that are not indexed. Answers of name servers are not: replay programs would list them as pages.
func (r *RecordRead) IndexEntry() (c cdxj.Entry, ok bool, err error) {
	if !r.isIndexed() {
		return c, false, nil
	}
	var head *block.Head
	if r.IsHTTP() {
		if head, _, err = r.HTTP(false); err != nil && !errors.Is(err, errNoHead) {
			return c, false, err
		}
	}
	c, ok = r.IndexEntryOf(head)
	return c, ok, nil
}

func (r *RecordRead) isIndexed() bool { return r.Type.indexed() && !r.IsDNS() && !r.IsWall() }

// IsWall reports whether the record is an answer of a protection service in place of the page: it has WallField, and no
// index entry.
func (r *RecordRead) IsWall() bool { return r.Get(WallField) != "" }

// IndexEntryOf is IndexEntry with the head of the HTTP message, which was read before; nil if there is none.
func (r *RecordRead) IndexEntryOf(head *block.Head) (c cdxj.Entry, ok bool) {
	if !r.isIndexed() {
		return c, false
	}
	c.URI, c.Date = r.TargetURI, r.Date
	c.Digest, c.SimHash = []byte(r.Get("WARC-Payload-Digest")), []byte(r.Get(SimHashField))
	c.Render = []byte(r.Get(RenderField))
	switch {
	case r.Type == Revisit:
		c.MIME = []byte("warc/revisit")
	case head != nil:
		c.MIME = []byte(head.ContentType())
		if len(c.MIME) == 0 && r.Type == Response {
			c.MIME = []byte(r.Get("WARC-Identified-Payload-Type"))
		}
	case !r.IsHTTP():
		c.MIME = []byte(r.Get("Content-Type"))
	}
	if head != nil {
		c.Status = head.Status
	}
	return c, true
}

// indexMemory is the memory of index lines before they are sorted on the disk, in bytes.
const indexMemory = 32 << 20

// NewIndex returns an empty index, whose runs are in scratch.
func NewIndex(scratch *extsort.Scratch) *extsort.Lines { return extsort.NewLines(scratch, indexMemory) }

// AddIndex reads all records of a file and adds the lines of those that are indexed: response, revisit and resource
// records. name is the file name in the lines, which have no end. Each fault is passed to onDamage, as ScanRecords
// does. A record that no line can name is such a fault: one without URI or date, and one that shares a gzip member with
// others.
func AddIndex(l *extsort.Lines, z *Reader, name string, onDamage func(*Fault) error) error {
	var line []byte
	var failed error
	shared := false
	check := func(rec *RecordRead, c *cdxj.Entry) (ok bool, err error) {
		switch {
		case failed != nil:
			return false, failed
		case c == nil, rec.Length == 0 && shared:
			return false, nil
		case len(c.URI) == 0:
			return false, z.fault(ErrField, rec.Offset, "not in the index: no WARC-Target-URI")
		case c.Date.IsZero():
			return false, z.fault(ErrField, rec.Offset, fmt.Sprintf("not in the index: WARC-Date %q", rec.Get("WARC-Date")))
		case rec.Length == 0:
			shared = true
			return false, z.fault(ErrFraming, rec.Offset, "not in the index, nor are others like it: the record shares its "+
				"member with others. Give each its own: orbweaver warc recompress")
		}
		return true, nil
	}
	var entry []byte
	err := ScanEntries(z, check, func(c *cdxj.Entry, offset, length int64) {
		entry = c.Append(entry[:0])
		line = cdxj.AppendLine(line[:0], entry, offset, length, name)
		if err := l.Add(line); err != nil {
			failed = err
		}
	}, onDamage)
	return cmp.Or(err, failed)
}

// WriteIndex writes the CDXJ index of the records of a file, sorted by bytes, as AddIndex makes it. onDamage is
// StopAtDamage for a file that must be whole.
func WriteIndex(w io.Writer, z *Reader, name string, onDamage func(*Fault) error) error {
	scratch := extsort.NewScratch()
	lines := NewIndex(scratch)
	err := AddIndex(lines, z, name, onDamage)
	if err == nil {
		err = lines.Write(w)
	}
	return errors.Join(err, scratch.Close())
}

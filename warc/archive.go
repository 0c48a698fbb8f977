package warc

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/vfs"
)

// BlockMax is the longest block of a record, in bytes. An Encoder refuses a longer one, and all who read blocks back into memory
// take one of this length: the longest response that the fetcher keeps is 1.2 GiB.
const BlockMax = 3 << 29

// Archive reads groups back from the files in a directory, by position. It keeps the file read last open, so that reading
// in order of position is cheap. Not safe for concurrent use.
type Archive struct {
	fsys   vfs.FS
	dir    string
	info   FileInfo
	file   vfs.File // nil: none
	size   int64
	reader *Reader
	words  []byte // dictionary of the file

	behind *Cut  // see Behind
	head   error // why nothing of the current file can be had, though it may be there
}

// OpenArchive makes an Archive. It touches no file yet.
func OpenArchive(fsys vfs.FS, dir string) *Archive { return &Archive{fsys: fsys, dir: dir} }

// Behind says from where on the archive may never have been durable. A power cut can take the first record of a file that
// begins there and leave groups behind it: nothing of such a file can be had, since a Writer could not go on with it.
func (a *Archive) Behind(c Cut) *Archive {
	a.behind = &c
	return a
}

// open makes the file with a serial the current one.
func (a *Archive) open(serial uint32) error {
	if a.file != nil && a.info.Serial == serial {
		size, err := a.file.Size() // it may be growing
		a.size = size
		return errors.Join(err, a.head)
	}
	if err := a.Close(); err != nil {
		return err
	}
	info, err := FindFile(a.fsys, a.dir, serial)
	if err != nil {
		return err
	}
	f, err := a.fsys.Open(join(a.dir, info.Name))
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	a.info, a.file, a.head, a.words = info, f, nil, nil
	if a.size, err = f.Size(); err != nil {
		return err
	}
	if info.Compression == Zstd {
		if a.words, _, err = ReadDictionary(f); errors.Is(err, ErrTruncated) || errors.Is(err, ErrCompression) || errors.Is(err, ErrTooLarge) {
			a.head = a.fault(ErrCompression, Position{}, "%v", err)
			return a.head
		} else if err != nil {
			return err
		}
	}
	if a.behind != nil && a.behind.Before(Cut{Serial: serial, Length: 1}) { // not a byte of it is in front of there
		a.head = a.checkHead()
	}
	return a.head
}

// checkHead reads the first record.
func (a *Archive) checkHead() error {
	z := NewReader(io.NewSectionReader(a.file, 0, a.size), ReaderOptions{Name: a.info.Name, Syntax: Fail})
	defer z.Close()
	rec, err := z.Next()
	if err == nil {
		_, err = io.Copy(io.Discard, onlyReader{rec})
	}
	if err == io.EOF { //nolint:errorlint // Next's own word
		err = a.fault(ErrTruncated, Position{}, "no record")
	}
	return err
}

// Close closes the file read last. The Archive may be used again.
func (a *Archive) Close() error {
	if a.reader != nil {
		a.reader.Close()
	}
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}

// ReadGroup reads the group at a position, its blocks in memory, the caller's to keep. With a Length it is what lies in that
// many bytes; without, the record at the offset and those behind it that are concurrent to one of the group. It gives the
// position with its Length. Something else at that place is a *Fault; a missing file wraps fs.ErrNotExist.
func (a *Archive) ReadGroup(pos Position) ([]RecordRead, Position, error) {
	if err := a.seek(pos); err != nil {
		return nil, pos, err
	}
	return a.readGroup(pos)
}

// ReadStart reads the one record at a position, and of its block the first bytes, as many as limit says or there are: a new slice, the
// caller's to keep, as the fields are. Errors are those of ReadGroup.
func (a *Archive) ReadStart(pos Position, limit int64) (*RecordRead, error) {
	if err := a.seek(pos); err != nil {
		return nil, err
	}
	rec, err := a.reader.Next()
	switch {
	case err == io.EOF: //nolint:errorlint // Next's own word
		return nil, a.fault(ErrTruncated, pos, "no record")
	case err != nil:
		return nil, err
	case rec.ContentLength <= limit:
		_, err = rec.ReadBlock(limit)
	default:
		rec.Block = make([]byte, limit)
		_, err = io.ReadFull(rec, rec.Block)
	}
	return rec, err
}

// seek makes the reader read from a position on, up to its Length or else to the end of the file.
func (a *Archive) seek(pos Position) error {
	if err := a.open(pos.Serial); err != nil {
		return err
	}
	if pos.Offset < 0 || pos.Length < 0 || pos.Offset >= a.size || pos.Length > a.size-pos.Offset {
		return a.fault(ErrTruncated, pos, "the file has %d bytes", a.size)
	}
	size := a.size - pos.Offset
	if pos.Length > 0 {
		size = pos.Length
	}
	from := io.NewSectionReader(a.file, pos.Offset, size)
	o := ReaderOptions{Name: a.info.Name, Base: pos.Offset, Syntax: Fail, Dictionary: a.words}
	if a.reader == nil {
		a.reader = NewReader(from, o)
	} else {
		a.reader.Reset(from, o)
	}
	return nil
}

func (a *Archive) fault(kind error, pos Position, format string, args ...any) error {
	return &Fault{Kind: kind, File: a.info.Name, Offset: pos.Offset, What: fmt.Sprintf(format, args...)}
}

func (a *Archive) readGroup(pos Position) ([]RecordRead, Position, error) {
	var group []RecordRead
	var length int64
	ids := make(map[string]bool)
	for {
		rec, err := a.reader.Next()
		// What lies behind a group is not its business.
		var damage *Fault
		behind := pos.Length == 0 && len(group) > 0 && (errors.As(err, &damage) || err == nil && !concurrent(rec, ids))
		switch {
		case behind, err == io.EOF && len(group) > 0:
			if pos.Length > 0 && length != pos.Length {
				return nil, pos, a.fault(ErrFraming, pos, "the group has %d bytes, not %d", length, pos.Length)
			}
			pos.Length = length
			return group, pos, nil
		case err == io.EOF:
			return nil, pos, a.fault(ErrTruncated, pos, "no record")
		case err != nil:
			return nil, pos, err
		}
		if _, err := rec.ReadBlock(BlockMax); err != nil {
			return nil, pos, err
		}
		ids[rec.Get("WARC-Record-ID")] = true
		group = append(group, *rec)
		length += rec.Length
	}
}

// concurrent tells whether a record names one of the ids.
func concurrent(r *RecordRead, ids map[string]bool) bool {
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, "WARC-Concurrent-To") && ids[f.Value] {
			return true
		}
	}
	return false
}

// ReadGroup is Archive.ReadGroup for a single look-up.
func ReadGroup(fsys vfs.FS, dir string, pos Position) ([]RecordRead, error) {
	a := OpenArchive(fsys, dir)
	group, _, err := a.ReadGroup(pos)
	if err := errors.Join(err, a.Close()); err != nil {
		return nil, err
	}
	return group, nil
}

// ReadGroupAt is ReadGroup where the length is not known. It gives the length, in bytes in the file.
func ReadGroupAt(fsys vfs.FS, dir string, serial uint32, offset int64) (group []RecordRead, length int64, err error) {
	a := OpenArchive(fsys, dir)
	group, pos, err := a.ReadGroup(Position{Serial: serial, Offset: offset})
	return group, pos.Length, errors.Join(err, a.Close())
}

// HTTPMessage looks into Block: the head, and the body behind it as it is stored. ok is false if Block holds no HTTP message
// with a complete head. The results alias Block.
func (r *RecordRead) HTTPMessage() (head HTTPHead, body []byte, ok bool) {
	n := headLength(r.Block)
	if n == 0 || !r.IsHTTP() {
		return HTTPHead{}, nil, false
	}
	return parseHead(r.Block[:n]), r.Block[n:], true
}

// Dechunk gives a chunked body without its framing: a new slice. A framing that breaks off ends it.
func Dechunk(body []byte) []byte {
	var c chunkScan
	var out []byte
	for done := false; len(body) > 0 && !done; {
		var piece []byte
		var used int
		piece, used, done = c.next(body)
		out = append(out, piece...)
		body = body[used:]
	}
	return out
}

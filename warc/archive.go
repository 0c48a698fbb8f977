package warc

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc/member"
)

// BlockMax is the length in bytes of the longest block: an Encoder refuses a longer one. The longest response that the
// fetcher stores is 1.13 TiB, with its chunking.
const BlockMax = 5 << 38

// groupMax is the length in bytes of the longest block that is read into memory with its group.
const groupMax = 3 << 29

// Archive reads groups from the files of a directory by position. It keeps the last file open, so that reading in order
// of position is cheap. It is not safe for concurrent use.
type Archive struct {
	fsys   vfs.FS
	dir    string
	info   FileInfo
	file   vfs.File // nil if none is open
	size   int64
	reader Reader
	words  []byte // dictionary of the file

	durableEnd Checkpoint // see Behind
	head       error      // the error if the current file exists but cannot be read
}

// OpenArchive returns an Archive. It opens no file yet.
func OpenArchive(fsys vfs.FS, dir string) *Archive {
	return &Archive{fsys: fsys, dir: dir, durableEnd: Checkpoint{Serial: math.MaxUint32, Length: math.MaxInt64}}
}

// Behind sets the position from which the archive may never have been durable. A power failure can remove the first
// record of a file that starts after it, and leave groups. Such a file counts as empty, since a Writer could not
// continue it.
func (a *Archive) Behind(c Checkpoint) *Archive {
	a.durableEnd = c
	return a
}

// open makes the file with the given serial the current one.
func (a *Archive) open(serial uint32) error {
	if a.file != nil && a.info.Serial == serial {
		size, err := a.file.Size() // the file may be growing
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
		a.words, _, err = member.ReadDictionary(f)
		if errors.Is(err, member.ErrTruncated) || errors.Is(err, member.ErrCompression) ||
			errors.Is(err, member.ErrTooLarge) {
			a.head = a.fault(member.ErrCompression, Position{}, "%v", err)
			return a.head
		} else if err != nil {
			return err
		}
	}
	if a.durableEnd.Before(Checkpoint{Serial: serial, Length: 1}) { // the file starts after the durable end
		a.head = a.checkHead()
	}
	return a.head
}

// checkHead reads the first record.
func (a *Archive) checkHead() error {
	z := NewReader(io.NewSectionReader(a.file, 0, a.size), ReaderOptions{Name: a.info.Name, Syntax: Fail, Unbounded: true})
	defer z.Close()
	rec, err := z.Next()
	if err == nil {
		err = skipBlock(rec)
	}
	if err == io.EOF { //nolint:errorlint // Next's own word
		err = a.fault(member.ErrTruncated, Position{}, "no record")
	}
	return err
}

// Close closes the file read last. The Archive may be used again.
func (a *Archive) Close() error {
	a.reader.Close()
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}

// ReadGroup reads the group at a position, with its blocks in memory, which belong to the caller. With a Length it
// reads the records in that many bytes. Without, it reads the record at the offset and the following ones that are
// concurrent to the group. It returns the position with its Length. If there is no such group, the error is a *Fault;
// for a missing file it wraps fs.ErrNotExist.
func (a *Archive) ReadGroup(pos Position) ([]RecordRead, Position, error) {
	var group []RecordRead
	pos, err := a.EachOfGroup(pos, func(_ int, rec *RecordRead) error {
		_, err := rec.ReadBlock(groupMax)
		group = append(group, *rec)
		return err
	})
	if err != nil {
		return nil, pos, err
	}
	return group, pos, nil
}

// ReadStart reads the record at a position, with at most limit bytes of its block. Block and fields belong to the
// caller. Errors are those of ReadGroup.
//
// If limit is at most HeadMost, only the start of a gzip member is read, whose checksum is not verified then.
func (a *Archive) ReadStart(pos Position, limit int64) (*RecordRead, error) {
	o := ReaderOptions{FirstRead: firstRead}
	if limit <= HeadMost {
		o = ReaderOptions{FirstRead: firstReadOfHead, Start: recordHeadUsual + int(limit)}
	}
	if err := a.seek(pos, o); err != nil {
		return nil, err
	}
	rec, err := a.reader.Next()
	switch {
	case err == io.EOF: //nolint:errorlint // Next's own word
		return nil, a.fault(member.ErrTruncated, pos, "no record")
	case err != nil:
		return nil, err
	}
	return rec, rec.ReadStart(limit)
}

const (
	// HeadMost is how many bytes of a block usually contain the head of a response.
	HeadMost = 2 << 10

	recordHeadUsual = 1 << 10
	firstReadOfHead = 4 << 10  // has so much of a record, unless it cannot be compressed
	firstRead       = 16 << 10 // most pages are smaller
)

// StartMost is how many bytes of a block the readers of an archive take into memory at once.
const StartMost = 1 << 20

// EachOfGroup calls f with each record of the group at a position, in order. f borrows the record, and may read its
// block. Position and errors are those of ReadGroup.
func (a *Archive) EachOfGroup(pos Position, f func(i int, rec *RecordRead) error) (Position, error) {
	if err := a.seek(pos, ReaderOptions{}); err != nil {
		return pos, err
	}
	return a.eachOfGroup(pos, f)
}

// seek sets the range of the reader: from a position to its Length, or to the end of the file. o says how much is read
// at first.
func (a *Archive) seek(pos Position, o ReaderOptions) error {
	if err := a.open(pos.Serial); err != nil {
		return err
	}
	if pos.Offset < 0 || pos.Length < 0 || pos.Offset >= a.size || pos.Length > a.size-pos.Offset {
		return a.fault(member.ErrTruncated, pos, "the file has %d bytes", a.size)
	}
	size := a.size - pos.Offset
	if pos.Length > 0 {
		size = pos.Length
	}
	from := io.NewSectionReader(a.file, pos.Offset, size)
	o.Name, o.Base, o.Syntax, o.Dictionary, o.Unbounded = a.info.Name, pos.Offset, Fail, a.words, true
	a.reader.Reset(from, o)
	return nil
}

func (a *Archive) fault(kind error, pos Position, format string, args ...any) error {
	return &Fault{Kind: kind, File: a.info.Name, Offset: pos.Offset, What: fmt.Sprintf(format, args...)}
}

func (a *Archive) eachOfGroup(pos Position, f func(i int, rec *RecordRead) error) (Position, error) {
	count := 0
	var length int64
	ids := make(map[string]bool)
	for {
		rec, err := a.reader.Next()
		// A fault after the group does not matter.
		var damage *Fault
		behind := pos.Length == 0 && count > 0 && (errors.As(err, &damage) || err == nil && !concurrent(rec, ids))
		switch {
		case behind, err == io.EOF && count > 0:
			if pos.Length > 0 && length != pos.Length {
				return pos, a.fault(ErrFraming, pos, "the group has %d bytes, not %d", length, pos.Length)
			}
			pos.Length = length
			return pos, nil
		case err == io.EOF:
			return pos, a.fault(member.ErrTruncated, pos, "no record")
		case err != nil:
			return pos, err
		}
		if err := f(count, rec); err != nil {
			return pos, err
		}
		if err := rec.Skip(); err != nil {
			return pos, err
		}
		ids[rec.Get("WARC-Record-ID")] = true
		count++
		length += rec.Length
	}
}

// concurrent reports whether a record names one of the ids.
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

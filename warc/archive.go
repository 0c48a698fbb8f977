package warc

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"orbweaver/internal/vfs"
)

// blockMax is the longest block that ReadGroup takes into memory, in bytes.
const blockMax = 1 << 30

// Archive reads groups back from the files in a directory, by position. It keeps the file read last open, so that reading
// in order of position is cheap. Not safe for concurrent use.
type Archive struct {
	fsys   vfs.FS
	dir    string
	info   FileInfo
	file   vfs.File // nil: none
	size   int64
	reader *Reader
}

// OpenArchive makes an Archive. It touches no file yet.
func OpenArchive(fsys vfs.FS, dir string) *Archive { return &Archive{fsys: fsys, dir: dir} }

// open makes the file with a serial the current one.
func (a *Archive) open(serial uint32) error {
	if a.file != nil && a.info.Serial == serial {
		size, err := a.file.Size() // it may be growing
		a.size = size
		return err
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
	a.info, a.file = info, f
	a.size, err = f.Size()
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

// ReadGroup reads the group that begins at an offset, as Position gives it: the record there, and those behind it that are
// concurrent to one of the group. Their blocks are in memory, the caller's to keep. length is the group's, in bytes in the
// file. Something else at that place is a *Fault; a missing file wraps fs.ErrNotExist.
func (a *Archive) ReadGroup(serial uint32, offset int64) (group []RecordRead, length int64, err error) {
	if err := a.open(serial); err != nil {
		return nil, 0, err
	}
	if offset < 0 || offset >= a.size {
		return nil, 0, &Fault{Kind: ErrTruncated, File: a.info.Name, Offset: offset, What: fmt.Sprintf("the file has %d bytes", a.size)}
	}
	o := ReaderOptions{Name: a.info.Name, Base: offset, Syntax: Fail}
	from := io.NewSectionReader(a.file, offset, math.MaxInt64-offset)
	if a.reader == nil {
		a.reader = NewReader(from, o)
	} else {
		a.reader.Reset(from, o)
	}
	ids := make(map[string]bool)
	for {
		rec, err := a.reader.Next()
		if err != nil && len(group) > 0 {
			var damage *Fault
			if err == io.EOF || errors.As(err, &damage) {
				return group, length, nil // what lies behind the group is not our business
			}
		}
		if err != nil {
			if err == io.EOF {
				err = &Fault{Kind: ErrTruncated, File: a.info.Name, Offset: offset, What: "no record"}
			}
			return nil, 0, err
		}
		if len(group) > 0 && !concurrent(rec, ids) {
			return group, length, nil
		}
		if _, err := rec.ReadBlock(blockMax); err != nil {
			return nil, 0, err
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

// ReadGroupAt is ReadGroup for a single look-up.
func ReadGroupAt(fsys vfs.FS, dir string, serial uint32, offset int64) (group []RecordRead, length int64, err error) {
	a := OpenArchive(fsys, dir)
	group, length, err = a.ReadGroup(serial, offset)
	return group, length, errors.Join(err, a.Close())
}

// HTTPMessage looks into Block: the head, and the body behind it as it is stored. ok is false if Block holds no HTTP message
// with a complete head. The results alias Block.
func (r *RecordRead) HTTPMessage() (head HTTPHead, body []byte, ok bool) {
	n := headLength(r.Block)
	if n == 0 || !r.isHTTP() {
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

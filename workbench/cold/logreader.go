package cold

import (
	"errors"
	"fmt"
	"io"

	"orbweaver/internal/vfs"
)

// logReader reads the records of a file in order.
type logReader struct {
	s   *segments
	f   vfs.File
	p   Position // of the next record
	end int64    // of the file

	block []byte // the bytes read last
	at    int    // position in block
}

const readBlock = 64 << 10

// next returns the next record. It is valid until the next call.
func (l *logReader) next() (record, error) {
	r, ok, err := l.nextLoaded()
	if !ok && err == nil { // the record may continue after the block
		if err = l.load(); err == nil {
			r, _, err = l.nextLoaded()
		}
	}
	return r, err
}

// nextLoaded returns the next record if the block has all of it. It is an error if a block that begins with the record
// does not.
func (l *logReader) nextLoaded() (r record, ok bool, err error) {
	r, fault := parseRecord(l.block[l.at:], l.p)
	if fault == "" && l.p.Offset >= segmentBytesMax {
		fault = "the offset of a record is too large"
	}
	switch {
	case fault == "":
		l.at += int(r.size)
		l.p.Offset += r.size
		return r, true, nil
	case l.at == 0 && l.block != nil:
		return r, false, l.s.corrupt(l.p, fault)
	}
	return r, false, nil
}

// load reads a block from the next record on, with at least all of that record.
func (l *logReader) load() error {
	need := int64(readBlock)
	if size, fault := sizeInHead(l.block[l.at:]); fault == "" {
		need = max(need, size)
	}
	if err := l.fill(need); err != nil {
		return err
	}
	if size, fault := sizeInHead(l.block); fault == "" && size > int64(len(l.block)) && size > need {
		return l.fill(size)
	}
	return nil
}

// fill reads n bytes from the next record on, fewer at the end.
func (l *logReader) fill(n int64) error {
	n = min(n, l.end-l.p.Offset)
	if int64(cap(l.block)) < n {
		l.block = make([]byte, n)
	}
	l.block, l.at = l.block[:n], 0
	got, err := l.f.ReadAt(l.block, l.p.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cold: read: %w", err)
	}
	l.block = l.block[:got]
	return nil
}

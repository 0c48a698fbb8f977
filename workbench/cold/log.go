package cold

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"orbweaver/internal/vfs"
)

// chunk is a piece of the log that is not yet written.
type chunk struct {
	from   Position
	b      []byte
	sealed bool // is being written, so nothing may be appended
}

// append adds a record at the tail, in memory. The caller holds mu.
func (s *Store) append(kind byte, key, rest []byte) (p Position, size int64) {
	if s.tail.Offset >= s.o.SegmentBytes {
		if s.tail.Segment-s.head.Segment >= segmentsMax-2 {
			panic("BUG: cold: too many files in the log")
		}
		s.tail = Position{s.tail.Segment + 1, 0}
	}
	var c *chunk
	if n := len(s.chunks); n > 0 {
		c = s.chunks[n-1]
	}
	if c == nil || c.sealed || s.tail.Offset == 0 {
		c = &chunk{from: s.tail}
		s.chunks = append(s.chunks, c)
	}
	before := len(c.b)
	if s.tail.Offset == 0 {
		c.b = appendSegmentHead(c.b, s.tail.Segment)
		s.tail.Offset = segmentHead
	}
	p, size = s.tail, sizeOf(len(key)+len(rest))
	c.b = appendRecord(c.b, p, kind, key, rest)
	s.tail.Offset += size
	s.log += size
	s.bufferedBytes += len(c.b) - before
	return p, size
}

// Buffered reports whether BufferBytes or more wait in memory, so that the caller should call Flush.
func (s *Store) Buffered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bufferedBytes >= s.o.BufferBytes
}

// Flush writes the records that wait in memory. It may be repeated after an error.
func (s *Store) Flush() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	work := slices.Clone(s.chunks)
	for _, c := range work {
		c.sealed = true
	}
	s.mu.Unlock()
	for _, c := range work {
		f, err := s.fileToWrite(c.from.Segment)
		if err != nil {
			return err
		}
		if _, err := f.WriteAt(c.b, c.from.Offset); err != nil {
			return fmt.Errorf("cold: write: %w", err)
		}
		s.mu.Lock()
		s.chunks = s.chunks[1:]
		s.bufferedBytes -= len(c.b)
		s.dirty[c.from.Segment] = true
		s.mu.Unlock()
	}
	return nil
}

// fileToWrite opens or creates a file of the log. The caller holds flushing.
func (s *Store) fileToWrite(segment uint32) (vfs.File, error) {
	s.mu.Lock()
	f, closed := s.files[segment], s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case f != nil:
		return f, nil
	}
	f, err := s.fs.Create(s.name(segment))
	if err != nil {
		return nil, fmt.Errorf("cold: write: %w", err)
	}
	s.mu.Lock()
	s.files[segment], s.newNames = f, true
	s.mu.Unlock()
	return f, nil
}

func (s *Store) name(segment uint32) string { return segmentName(s.o.Dir, segment) }

func segmentName(dir string, segment uint32) string { return fmt.Sprintf("%s/%08d", dir, segment) }

// segmentOf returns the number of a file of the log, or false for other files.
func segmentOf(base string) (segment uint32, ok bool) {
	_, err := fmt.Sscanf(base, "%d", &segment)
	return segment, err == nil && base == path.Base(segmentName(".", segment))
}

func (s *Store) corrupt(p Position, what string) error {
	return &vfs.CorruptError{File: s.name(p.Segment), Offset: p.Offset, What: what}
}

// firstRead is the size of the first read of a record of unknown size. Most records are shorter.
const firstRead = 512

// read reads the record at p.
func (s *Store) read(p Position) (record, error) {
	s.mu.Lock()
	b, f := s.inMemory(p), s.files[p.Segment]
	closed := s.closed
	s.mu.Unlock()
	if b == nil {
		switch {
		case closed:
			return record{}, ErrClosed
		case f == nil:
			return record{}, s.corrupt(p, "the file is not part of the log")
		}
		var err error
		if b, err = s.readFile(f, p, firstRead); err != nil {
			return record{}, err
		}
	}
	if size, fault := sizeInHead(b); fault == "" && size > int64(len(b)) {
		var err error
		if b, err = s.readFile(f, p, int(size)); err != nil {
			return record{}, err
		}
	}
	r, fault := parseRecord(b, p)
	if fault != "" {
		return record{}, s.corrupt(p, fault)
	}
	return r, nil
}

// readFile reads up to n bytes, fewer at the end of the file.
func (s *Store) readFile(f vfs.File, p Position, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := f.ReadAt(b, p.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cold: read: %w", err)
	}
	return b[:got], nil
}

// inMemory returns a copy of the record at p from the chunks, or nil if it is in none. The caller holds mu.
func (s *Store) inMemory(p Position) []byte {
	for _, c := range s.chunks {
		if c.from.Segment != p.Segment || p.Offset < c.from.Offset || p.Offset >= c.from.Offset+int64(len(c.b)) {
			continue
		}
		b := c.b[p.Offset-c.from.Offset:]
		size, fault := sizeInHead(b)
		if fault != "" || size > int64(len(b)) {
			panic("BUG: cold: invalid record in memory")
		}
		return bytes.Clone(b[:size])
	}
	return nil
}

package cold

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"orbweaver/internal/vfs"
)

// segments are the files of the log.
type segments struct {
	fs  vfs.FS
	dir string

	// mu is not held during disk operations, except by open and close. No other lock is taken while it is held.
	mu       sync.Mutex
	files    map[uint32]vfs.File
	dirty    map[uint32]bool // written and not yet synced
	newNames bool            // files were created, and the directory is not yet synced
	syncErr  error           // the error of a failed sync; no other sync is tried
	closed   bool
}

func (s *segments) name(segment uint32) string { return segmentName(s.dir, segment) }

func segmentName(dir string, segment uint32) string { return fmt.Sprintf("%s/%08d", dir, segment) }

// segmentOf returns the number of a file of the log, or false for other files.
func segmentOf(base string) (segment uint32, ok bool) {
	_, err := fmt.Sscanf(base, "%d", &segment)
	return segment, err == nil && base == path.Base(segmentName(".", segment))
}

func (s *segments) corrupt(p Position, what string) error {
	return &vfs.CorruptError{File: s.name(p.Segment), Offset: p.Offset, What: what}
}

// removeOutside deletes the files that have no record between head and tail.
func (s *segments) removeOutside(head, tail Position) error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return fmt.Errorf("cold: open: %w", err)
	}
	for _, base := range names {
		segment, ok := segmentOf(base)
		if !ok || segment >= head.Segment && segment <= tail.lastFile() {
			continue
		}
		if err := vfs.RemoveIfExists(s.fs, s.name(segment)); err != nil {
			return fmt.Errorf("cold: open: %w", err)
		}
	}
	return nil
}

// open opens the files from head to tail, and truncates the last one at the tail.
func (s *segments) open(head, tail Position) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for segment := head.Segment; segment <= tail.lastFile(); segment++ {
		if _, err := s.fs.Size(s.name(segment)); errors.Is(err, fs.ErrNotExist) {
			return s.corrupt(Position{segment, 0}, "the file is missing")
		}
		f, err := s.fs.OpenRW(s.name(segment))
		if err != nil {
			return fmt.Errorf("cold: open: %w", err)
		}
		s.files[segment] = f
	}
	if f := s.files[tail.Segment]; f != nil {
		size, err := f.Size()
		if err == nil && size > tail.Offset {
			err = f.Truncate(tail.Offset)
		}
		if err != nil {
			return fmt.Errorf("cold: open: %w", err)
		}
		if size < tail.Offset {
			return s.corrupt(tail, fmt.Sprintf("the file ends at %d", size))
		}
	}
	return nil
}

// walk reads all records from head to tail. All of them must be in files.
func (s *segments) walk(head, tail Position, visit func(p Position, r *record) error) error {
	files := fileWalk{s: s, head: head, tail: tail, segment: head.Segment}
	for {
		l, ok, err := files.next()
		if !ok || err != nil {
			return err
		}
		for l.p.Offset < l.end {
			p := l.p
			r, err := l.next()
			if err != nil {
				return err
			}
			if err := visit(p, &r); err != nil {
				return err
			}
		}
	}
}

// fileWalk gives a reader of each file of the log between head and tail.
type fileWalk struct {
	s          *segments
	head, tail Position
	segment    uint32 // of the next file
}

// next returns a reader of the next file; ok is false at the end.
func (w *fileWalk) next() (l logReader, ok bool, err error) {
	segment := w.segment
	if segment > w.tail.lastFile() {
		return l, false, nil
	}
	f := w.s.file(segment)
	end, err := f.Size()
	if err != nil {
		return l, false, fmt.Errorf("cold: read: %w", err)
	}
	if segment == w.tail.Segment {
		end = w.tail.Offset
	}
	start, err := readUpTo(f, 0, segmentHead)
	if err != nil {
		return l, false, err
	}
	if fault := faultOfHead(start, segment); fault != "" {
		return l, false, w.s.corrupt(Position{segment, 0}, fault)
	}
	from := int64(segmentHead)
	if segment == w.head.Segment {
		from = w.head.Offset
	}
	w.segment++
	return logReader{s: w.s, f: f, p: Position{segment, from}, end: end}, true, nil
}

// file returns an open file, or nil.
func (s *segments) file(segment uint32) vfs.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[segment]
}

// write writes a chunk. Only one goroutine at a time may call write, sync, release or close.
func (s *segments) write(c *chunk) error {
	f, err := s.fileToWrite(c.from.Segment)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(c.b, c.from.Offset); err != nil {
		return fmt.Errorf("cold: write: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty[c.from.Segment] = true
	return nil
}

// fileToWrite returns an open file, or creates it.
func (s *segments) fileToWrite(segment uint32) (vfs.File, error) {
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
	defer s.mu.Unlock()
	s.files[segment], s.newNames = f, true
	return f, nil
}

// firstRead is the size of the first read of a record of unknown size. Most records are shorter.
const firstRead = 512

// read reads the record at p. b is the record if it is in memory, or else nil.
func (s *segments) read(p Position, b []byte) (record, error) {
	if b == nil {
		var err error
		if b, err = s.readFile(p); err != nil {
			return record{}, err
		}
	}
	r, fault := parseRecord(b, p)
	if fault != "" {
		return record{}, s.corrupt(p, fault)
	}
	return r, nil
}

// readFile reads the bytes of the record at p.
func (s *segments) readFile(p Position) ([]byte, error) {
	s.mu.Lock()
	f, closed := s.files[p.Segment], s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case f == nil:
		return nil, s.corrupt(p, "the file is not part of the log")
	}
	b, err := readUpTo(f, p.Offset, firstRead)
	if err != nil {
		return nil, err
	}
	if size, fault := sizeInHead(b); fault == "" && size > int64(len(b)) {
		return readUpTo(f, p.Offset, int(size))
	}
	return b, nil
}

// readUpTo reads up to n bytes, fewer at the end of the file.
func readUpTo(f vfs.File, offset int64, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := f.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cold: read: %w", err)
	}
	return b[:got], nil
}

// sync makes everything that was written durable. After a failed sync, this and all later calls return the error.
func (s *segments) sync() error {
	s.mu.Lock()
	lost, closed := s.syncErr, s.closed
	files, names := make([]vfs.File, 0, len(s.dirty)), s.newNames
	for _, segment := range slices.Sorted(maps.Keys(s.dirty)) {
		files = append(files, s.files[segment])
	}
	s.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case lost != nil:
		return lost
	}
	err := s.syncAll(files, names)
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone *vfs.SyncError
	switch {
	case err == nil:
		clear(s.dirty) // correct because no file is written meanwhile
		s.newNames = false
	case errors.As(err, &gone):
		s.syncErr = err
	}
	return err
}

func (s *segments) syncAll(files []vfs.File, names bool) error {
	for _, f := range files {
		if err := f.Sync(); err != nil {
			return fmt.Errorf("cold: sync: %w", err)
		}
	}
	if names {
		if err := s.fs.SyncDir(s.dir); err != nil {
			return fmt.Errorf("cold: sync: %w", err)
		}
	}
	return nil
}

// release removes the files before a segment.
func (s *segments) release(before uint32) error {
	s.mu.Lock()
	var files []vfs.File
	var numbers []uint32
	for _, segment := range slices.Sorted(maps.Keys(s.files)) {
		if segment < before {
			numbers, files = append(numbers, segment), append(files, s.files[segment])
			delete(s.files, segment)
			delete(s.dirty, segment)
		}
	}
	s.mu.Unlock()
	for i, f := range files {
		err := errors.Join(f.Close(), vfs.RemoveIfExists(s.fs, s.name(numbers[i])))
		if err != nil {
			return fmt.Errorf("cold: release: %w", err)
		}
	}
	return nil
}

// close closes the files.
func (s *segments) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, segment := range slices.Sorted(maps.Keys(s.files)) {
		errs = append(errs, s.files[segment].Close())
	}
	clear(s.files)
	s.closed = true
	return errors.Join(errs...)
}

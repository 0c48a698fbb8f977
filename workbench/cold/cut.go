package cold

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"orbweaver/internal/vfs"
)

// Cut is the store at one moment, for a manifest.
type Cut struct {
	Head  Position `json:"head"` // what is before it does not count
	Tail  Position `json:"tail"` // nor what is from here on
	Hosts uint64   `json:"hosts"`
	Sum   uint64   `json:"sum"` // of the hashes of their keys
}

// validate looks for what no Cut can return.
func (c Cut) validate() error {
	aligned := func(p Position) bool { return p.Offset >= 0 && p.Offset%recordAlign == 0 && p.Offset < 1<<40 }
	switch {
	case c.Head.Segment == 0, c.Tail.Segment < c.Head.Segment, c.Tail.Segment-c.Head.Segment >= segmentsMax,
		!aligned(c.Head), !aligned(c.Tail), c.Head.Offset < segmentHead,
		c.Tail.Offset != 0 && c.Tail.Offset < segmentHead,
		c.Head.Segment == c.Tail.Segment && c.Tail.Offset != 0 && c.Head.Offset > c.Tail.Offset,
		c.Head.Segment == c.Tail.Segment && c.Tail.Offset <= c.Head.Offset && (c.Hosts != 0 || c.Sum != 0):
		return fmt.Errorf("%w: impossible cut %+v", ErrCorrupt, c)
	}
	return nil
}

// Cut marks this moment. It touches no file.
func (s *Store) Cut() Cut {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Cut{Head: s.head, Tail: s.tail, Hosts: uint64(s.table.used), Sum: s.sum}
}

// Sync makes durable what was put in and taken out so far, and so every cut so far. After a sync has failed it fails for ever:
// nobody knows what is on disk.
func (s *Store) Sync() error {
	if err := s.Flush(); err != nil {
		return err
	}
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	lost, closed := s.lost, s.closed
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
		clear(s.dirty) // nothing is written while flushing is held
		s.newNames = false
	case errors.As(err, &gone):
		s.lost = err
	}
	return err
}

func (s *Store) syncAll(files []vfs.File, names bool) error {
	for _, f := range files {
		if err := f.Sync(); err != nil {
			return fmt.Errorf("cold: sync: %w", err)
		}
	}
	if names {
		if err := s.fs.SyncDir(s.o.Dir); err != nil {
			return fmt.Errorf("cold: sync: %w", err)
		}
	}
	return nil
}

// Release says that c is durable in a manifest: what is before its head goes.
func (s *Store) Release(c Cut) error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	var files []vfs.File
	var segments []uint32
	for _, segment := range slices.Sorted(maps.Keys(s.files)) {
		if segment < c.Head.Segment && segment < s.head.Segment {
			segments, files = append(segments, segment), append(files, s.files[segment])
			delete(s.files, segment)
			delete(s.dirty, segment)
		}
	}
	s.mu.Unlock()
	for i, f := range files {
		err := errors.Join(f.Close(), vfs.RemoveIfExists(s.fs, s.name(segments[i])))
		if err != nil {
			return fmt.Errorf("cold: release: %w", err)
		}
	}
	return nil
}

// Close closes the files. What no Sync has written is forgotten, as by a rollback to the last cut. It may be called again.
func (s *Store) Close() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
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

package cold

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"orbweaver/internal/vfs"
)

// Checkpoint is the state of the store at one moment, for a manifest.
type Checkpoint struct {
	Head  Position `json:"head"` // records before it are not valid
	Tail  Position `json:"tail"` // records from here on are not valid
	Hosts uint64   `json:"hosts"`
	Sum   uint64   `json:"sum"` // of the hashes of the keys
}

// validate returns an error for values that Store.Checkpoint never returns.
func (c Checkpoint) validate() error {
	aligned := func(p Position) bool { return p.Offset >= 0 && p.Offset%recordAlign == 0 && p.Offset < 1<<40 }
	switch {
	case c.Head.Segment == 0, c.Tail.Segment < c.Head.Segment, c.Tail.Segment-c.Head.Segment >= segmentsMax,
		!aligned(c.Head), !aligned(c.Tail), c.Head.Offset < segmentHead,
		c.Tail.Offset != 0 && c.Tail.Offset < segmentHead,
		c.Head.Segment == c.Tail.Segment && c.Tail.Offset != 0 && c.Head.Offset > c.Tail.Offset,
		c.Head.Segment == c.Tail.Segment && c.Tail.Offset <= c.Head.Offset && (c.Hosts != 0 || c.Sum != 0):
		return fmt.Errorf("%w: invalid checkpoint %+v", vfs.ErrCorrupt, c)
	}
	return nil
}

// Checkpoint returns the state at this moment. It uses no file.
func (s *Store) Checkpoint() Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Checkpoint{Head: s.head, Tail: s.tail, Hosts: uint64(s.table.used), Sum: s.sum}
}

// Sync makes all earlier calls of Put and Take durable, and so all earlier checkpoints. If the disk fails a sync, this
// and all later calls return the error, because the content of the disk is unknown.
func (s *Store) Sync() error {
	if err := s.Flush(); err != nil {
		return err
	}
	s.flushing.Lock()
	defer s.flushing.Unlock()
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
		clear(s.dirty) // correct because no file is written while flushing is held
		s.newNames = false
	case errors.As(err, &gone):
		s.syncErr = err
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

// Release must be called when c is durable in a manifest. It removes the files before the head of c.
func (s *Store) Release(c Checkpoint) error {
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

// Close closes the files. Changes since the last Sync may be lost. It may be called again.
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

package sieve

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"orbweaver/internal/vfs"
)

// fileSet creates the files of a sieve, and removes them when no checkpoint needs them any more.
type fileSet struct {
	fsys vfs.FS
	dir  string

	// mu is held for a few instructions, never during I/O. No other lock is taken while it is held.
	mu           sync.Mutex
	serial       uint64       // of the next file
	generation   uint64       // of the last checkpoint
	checkpointed []*storeFile // the files of the last checkpoint
	obsolete     []obsolete
	spares       []*storeFile // unused pending files, at most sparesMax
}

// obsolete is a file that only checkpoints up to lastCheckpoint need. The durable checkpoint may be one of these.
type obsolete struct {
	file           *storeFile
	lastCheckpoint uint64
}

// sparesMax is the number of pending files that are kept to be overwritten: that of the bucket emptied last.
const sparesMax = 1

// name returns the name of a file.
func (s *fileSet) name(k kind, serial uint64) string { return fileName(s.dir, k, serial) }

// create creates a file with the next serial number.
func (s *fileSet) create(k kind) (*storeFile, error) {
	s.mu.Lock()
	serial := s.serial
	s.serial++
	s.mu.Unlock()
	f, err := s.fsys.Create(s.name(k, serial))
	if err != nil {
		return nil, fmt.Errorf("sieve: %w", err)
	}
	return &storeFile{File: f, kind: k, serial: serial}, nil
}

// createPending returns a pending file for a bucket, a spare one if possible: to overwrite a file costs a tenth.
func (s *fileSet) createPending() (*storeFile, error) {
	s.mu.Lock()
	if last := len(s.spares) - 1; last >= 0 {
		f := s.spares[last]
		s.spares = s.spares[:last]
		s.mu.Unlock()
		return f, nil
	}
	s.mu.Unlock()
	return s.create(kindPending)
}

// drop removes a live file: at once if no checkpoint names it, otherwise when a later checkpoint is released. A file
// that cannot be removed stays on the list, and release tries again. It does nothing without a file.
func (s *fileSet) drop(f *storeFile) {
	if f == nil {
		return
	}
	s.mu.Lock()
	needed := f.firstCheckpoint != 0
	o := obsolete{file: f, lastCheckpoint: s.generation}
	if needed {
		s.obsolete = append(s.obsolete, o)
	}
	s.mu.Unlock()
	if !needed && s.discard(f) != nil {
		s.retry(f)
	}
}

// dropPending drops a pending file. It keeps the file to be overwritten, if no checkpoint names it and another bucket
// will need it soon. It does nothing without a file.
func (s *fileSet) dropPending(f *storeFile, neededSoon bool) {
	if f == nil {
		return
	}
	s.mu.Lock()
	keep := f.firstCheckpoint == 0 && neededSoon && len(s.spares) < sparesMax
	if keep {
		s.spares = append(s.spares, f)
	}
	s.mu.Unlock()
	if !keep {
		s.drop(f)
	}
}

// discard closes and removes a file. It is no error if the file does not exist.
func (s *fileSet) discard(f *storeFile) error {
	err := f.Close()
	if errors.Is(err, fs.ErrClosed) {
		err = nil // an earlier discard closed the file and could not remove it
	}
	return errors.Join(err, vfs.RemoveIfExists(s.fsys, f.Name()))
}

// retry lets the next release discard a file again. It may already be closed, so it is not overwritten.
func (s *fileSet) retry(f *storeFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.obsolete = append(s.obsolete, obsolete{file: f})
}

// checkpoint makes a new checkpoint that names the live files. It returns the generation of the checkpoint and the
// serial number of the next file.
func (s *fileSet) checkpoint(live []*storeFile) (generation, serial uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	for _, f := range live {
		if f.firstCheckpoint == 0 {
			f.firstCheckpoint = s.generation
		}
	}
	s.checkpointed = live
	return s.generation, s.serial
}

// restore continues after a checkpoint whose files are open. It removes all other files of a sieve.
func (s *fileSet) restore(live []*storeFile) error {
	s.checkpointed = live
	named := map[string]bool{}
	for _, f := range live {
		named[path.Base(f.Name())] = true
	}
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	for _, name := range names {
		if ours(name) && !named[name] {
			if err := vfs.RemoveIfExists(s.fsys, path.Join(s.dir, name)); err != nil {
				return fmt.Errorf("sieve: %w", err)
			}
		}
	}
	return nil
}

// sync makes the files of the last checkpoint durable. Only the goroutine of the checkpoints calls it.
func (s *fileSet) sync() error {
	s.mu.Lock()
	files := s.checkpointed
	s.mu.Unlock()
	for _, f := range files {
		if f.synced {
			continue
		}
		if err := f.Sync(); err != nil {
			return fmt.Errorf("sieve: %w", err)
		}
		f.synced = true
	}
	if err := s.fsys.SyncDir(s.dir); err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	return nil
}

// release removes the files that only checkpoints before the given generation need. If pending files will be needed
// soon, it keeps one to be overwritten.
func (s *fileSet) release(generation uint64, neededSoon bool) error {
	s.mu.Lock()
	var gone []*storeFile
	var kept []obsolete
	for _, o := range s.obsolete {
		switch {
		case o.lastCheckpoint >= generation:
			kept = append(kept, o)
		case o.file.kind == kindPending && neededSoon && o.lastCheckpoint > 0 && len(s.spares) < sparesMax:
			o.file.firstCheckpoint, o.file.checkpointBytes = 0, 0
			s.spares = append(s.spares, o.file)
		default:
			gone = append(gone, o.file)
		}
	}
	if !neededSoon {
		gone = append(gone, s.spares...)
		s.spares = nil
	}
	s.obsolete = kept
	s.mu.Unlock()
	var faults []error
	for _, f := range gone {
		if err := s.discard(f); err != nil {
			faults = append(faults, fmt.Errorf("sieve: %w", err))
			s.retry(f)
		}
	}
	return errors.Join(faults...)
}

// close closes the live files and all others.
func (s *fileSet) close(live []*storeFile) error {
	s.mu.Lock()
	files := slices.Concat(live, s.spares)
	for _, o := range s.obsolete {
		files = append(files, o.file)
	}
	s.mu.Unlock()
	var faults []error
	for _, f := range files {
		if err := f.Close(); err != nil {
			faults = append(faults, fmt.Errorf("sieve: %w", err))
		}
	}
	return errors.Join(faults...)
}

// obsoleteFiles returns the number of files that are kept only for older checkpoints.
func (s *fileSet) obsoleteFiles() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.obsolete)
}

package sieve

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"orbweaver/internal/vfs"
)

// kind is the kind of a file and the first part of its name.
type kind string

const (
	kindRun     kind = "run"
	kindPending kind = "pending"
	kindMask    kind = "mask"
)

func fileName(dir string, k kind, serial uint64) string {
	return path.Join(dir, fmt.Sprintf("%s-%012d", k, serial))
}

// ours reports whether fileName can return this base name.
func ours(base string) bool {
	for _, k := range []kind{kindRun, kindPending, kindMask} {
		if digits, ok := strings.CutPrefix(base, string(k)+"-"); ok {
			serial, err := strconv.ParseUint(digits, 10, 64)
			return err == nil && path.Base(fileName("", k, serial)) == base
		}
	}
	return false
}

// storeFile is a file of the sieve with its state on disk. The file of a run never changes. A pending file grows at its
// end, and is overwritten when no checkpoint names it.
type storeFile struct {
	vfs.File
	kind   kind
	serial uint64
	// firstCheckpoint is the generation of the first checkpoint that names the file; zero if there is none.
	firstCheckpoint uint64
	synced          bool
	checkpointBytes int64 // length of a pending file in the last checkpoint
}

// obsolete is a file that only checkpoints up to lastCheckpoint need. The durable checkpoint may be one of these.
type obsolete struct {
	file           *storeFile
	lastCheckpoint uint64
}

// sparesMax is the number of pending files that are kept to be overwritten: that of the bucket emptied last.
const sparesMax = 1

// discard closes and removes a file. It is no error if the file does not exist.
func discard(fsys vfs.FS, f *storeFile) error {
	err := f.Close()
	if errors.Is(err, fs.ErrClosed) {
		err = nil // an earlier discard closed the file and could not remove it
	}
	return errors.Join(err, vfs.RemoveIfExists(fsys, f.Name()))
}

// drop removes a live file: at once if no checkpoint names it, otherwise when a later checkpoint is released. A file
// that cannot be removed stays on the list, and Release tries again. mu must not be held.
func (s *Sieve) drop(f *storeFile) {
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
	if needed || discard(s.fsys, f) == nil {
		return
	}
	o.lastCheckpoint = 0
	s.mu.Lock()
	s.obsolete = append(s.obsolete, o)
	s.mu.Unlock()
}

// dropPending drops the pending file of a bucket. It keeps the file to be overwritten, if no checkpoint names it and it
// will be needed soon. Only the flusher may use the bucket at this point.
func (s *Sieve) dropPending(b *bucket) {
	f := b.payloads.file
	if f == nil {
		return
	}
	s.mu.Lock()
	keep := f.firstCheckpoint == 0 && b.ahead && len(s.spareFiles) < sparesMax
	if keep {
		s.spareFiles = append(s.spareFiles, f)
	}
	s.mu.Unlock()
	if !keep {
		s.drop(f)
	}
}

// create creates a file with the next serial number.
func (s *Sieve) create(k kind) (*storeFile, error) {
	s.mu.Lock()
	serial := s.serial
	s.serial++
	s.mu.Unlock()
	f, err := s.fsys.Create(fileName(s.o.Dir, k, serial))
	if err != nil {
		return nil, fmt.Errorf("sieve: %w", err)
	}
	return &storeFile{File: f, kind: k, serial: serial}, nil
}

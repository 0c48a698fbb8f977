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

// kind says what a file of the sieve holds; it is the first part of its name.
type kind string

const (
	kindRun     kind = "run"
	kindPending kind = "pending"
	kindMask    kind = "mask"
)

func fileName(dir string, k kind, serial uint64) string {
	return path.Join(dir, fmt.Sprintf("%s-%012d", k, serial))
}

// ours reports whether a base name is one that fileName makes.
func ours(base string) bool {
	for _, k := range []kind{kindRun, kindPending, kindMask} {
		if digits, ok := strings.CutPrefix(base, string(k)+"-"); ok {
			serial, err := strconv.ParseUint(digits, 10, 64)
			return err == nil && path.Base(fileName("", k, serial)) == base
		}
	}
	return false
}

// storeFile is one file of the sieve and what is known about its safety.
// A run's file is never written again; a pending file grows at its end, and is written over when no cut names it.
type storeFile struct {
	vfs.File
	kind   kind
	serial uint64
	// firstCut is the generation of the first Cut that names the file; zero while none does.
	firstCut uint64
	synced   bool
	cutBytes int64 // of a pending file, named by the last cut
}

// obsolete is a file nobody needs but cuts up to lastCut, which may still be the durable ones.
type obsolete struct {
	file    *storeFile
	lastCut uint64
}

// sparesMax is how many pending files are kept to be written over: the one of the bucket that was just emptied.
const sparesMax = 1

// discard closes and removes a file. A file that is gone already is fine.
func discard(fsys vfs.FS, f *storeFile) error {
	err := f.Close()
	if errors.Is(err, fs.ErrClosed) {
		err = nil // an earlier discard closed it and could not remove it
	}
	return errors.Join(err, vfs.RemoveIfExists(fsys, f.Name()))
}

// drop forgets a live file: at once if no cut names it, else when a later cut is released. A file that will not go is
// kept on the list and tried again by Release. Called without s.mu.
func (s *Sieve) drop(f *storeFile) {
	if f == nil {
		return
	}
	s.mu.Lock()
	needed := f.firstCut != 0
	o := obsolete{file: f, lastCut: s.generation}
	if needed {
		s.obsolete = append(s.obsolete, o)
	}
	s.mu.Unlock()
	if needed || discard(s.fsys, f) == nil {
		return
	}
	o.lastCut = 0
	s.mu.Lock()
	s.obsolete = append(s.obsolete, o)
	s.mu.Unlock()
}

// dropPending forgets the pending file of a bucket, but keeps it to be written over if no cut names it and it soon will
// be. The bucket is nobody's any more but the flusher's.
func (s *Sieve) dropPending(b *bucket) {
	f := b.file
	if f == nil {
		return
	}
	s.mu.Lock()
	keep := f.firstCut == 0 && b.ahead && len(s.spareFiles) < sparesMax
	if keep {
		s.spareFiles = append(s.spareFiles, f)
	}
	s.mu.Unlock()
	if !keep {
		s.drop(f)
	}
}

// create makes a new file with the next serial number.
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

package bodyfile

import (
	"fmt"
	"io"

	"orbweaver/internal/vfs"
)

// Scratch is a file for one parse worker. It is made at the first Write. Scratch implements member.Scratch.
type Scratch struct {
	store *Store
	f     vfs.File // nil if empty
	size  int64
}

// NewScratch returns an empty Scratch.
func (s *Store) NewScratch() *Scratch { return &Scratch{store: s} }

// Write appends b. An error may be passing: see vfs.IsPassing.
func (s *Scratch) Write(b []byte) (int, error) {
	if s.f == nil {
		f, err := s.store.o.FS.Create(s.store.nextName())
		if err != nil {
			return 0, fmt.Errorf("bodyfile: %w", err)
		}
		s.f = f
	}
	n, err := s.f.WriteAt(b, s.size)
	s.size += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("bodyfile: %w", err)
	}
	return n, err
}

// ReadAt reads as io.ReaderAt says.
func (s *Scratch) ReadAt(b []byte, at int64) (int, error) {
	return s.f.ReadAt(b, at) //nolint:wrapcheck // io.EOF, or the name is in it
}

// Reset removes the file.
func (s *Scratch) Reset() {
	if s.f != nil {
		s.store.remove(s.f)
	}
	s.f, s.size = nil, 0
}

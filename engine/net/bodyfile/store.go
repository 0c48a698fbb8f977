package bodyfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"orbweaver/internal/vfs"
)

// ErrNoRoom says that the exchange had to end while the file waited for room.
var ErrNoRoom = errors.New("bodyfile: no room for the body")

// Options configure a Store.
type Options struct {
	FS   vfs.FS
	Dir  string // nothing else may be in it
	Most Most
	// Wait returns nil when a write that failed with err may be repeated, or the error that ends the exchange.
	Wait func(ctx context.Context, err error) error
	// Warn logs a warning with key-value fields.
	Warn func(msg string, args ...any)
	// DomainOf returns the registrable domain of a host. If it is nil, each host is a domain.
	DomainOf func(host []byte) []byte
}

// Most limits all files together.
type Most struct {
	Bytes int64
	Files int
}

// Store has the body files of a crawl.
type Store struct {
	endless endlessSources

	o      Options
	serial atomic.Uint64 // of the last file

	mu      sync.Mutex
	growing []*File       // in the order of their beginning
	sealed  int           // files that are complete and not removed
	bytes   int64         // reserved by all files
	freed   chan struct{} // closed at the next change; nil if no file waits
	waiting int           // bodies that wait for room now
	waits   int64         // times that a body had to wait for room
}

// FilesFor returns how many files a crawl with so many fetch workers may have at once.
func FilesFor(fetchers int) int { return min(max(fetchers/4, 4), 256) }

// namePrefix is the start of all names in the directory.
const namePrefix = "body-"

// Open makes the directory, and removes the files that a killed run has left in it.
func Open(o Options) (*Store, error) {
	if err := o.FS.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("bodyfile: %w", err)
	}
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("bodyfile: %w", err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, namePrefix) {
			continue
		}
		if err := o.FS.Remove(o.Dir + "/" + name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("bodyfile: a file of the last run cannot be removed: %w", err)
		}
	}
	s := &Store{o: o}
	s.endless.domainOf = o.DomainOf
	return s, s.endless.load(o.FS, o.Dir)
}

// Nowhere returns a Store without room: each body that is too long for memory is truncated.
func Nowhere() *Store { return new(Store) }

// IsEndless reports whether a host at an address probably sends bodies without an end.
func (s *Store) IsEndless(host []byte, addr netip.Addr) bool { return s.endless.has(host, addr) }

// NoteEndless notes that a host at an address has sent a body without an end.
func (s *Store) NoteEndless(host []byte, addr netip.Addr) {
	if err := s.endless.add(host, addr); err != nil {
		s.o.Warn("a host that sent a body without an end is forgotten after a restart", "host", string(host), "error", err)
	}
}

// Stats are the counters of a Store.
type Stats struct {
	Files   int   // there now
	Bytes   int64 // reserved by them
	Waiting int   // bodies that wait for room now
	Waits   int64 // times that a body had to wait for room
}

// Stats returns the counters.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Files: len(s.growing) + s.sealed, Bytes: s.bytes, Waiting: s.waiting, Waits: s.waits}
}

// nextName returns the name of a new file.
func (s *Store) nextName() string {
	return fmt.Sprintf("%s/%s%d", s.o.Dir, namePrefix, s.serial.Add(1))
}

// begin adds a file if there is a place for one more. It returns false and what is closed at the next change if not.
func (s *Store) begin(f *File) (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.growing)+s.sealed >= s.o.Most.Files {
		return false, s.changed()
	}
	s.growing = append(s.growing, f)
	return true, nil
}

// reserve gives n more bytes to f, while free bytes are free on the disk. If they cannot be given, it returns false,
// and what is closed at the next change.
func (s *Store) reserve(f *File, n, free int64) (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isFirst := s.growing[0] == f && s.sealed == 0
	if s.bytes+n > s.o.Most.Bytes && !isFirst || s.bytes+n > s.bytes/diskPart+free/diskPart {
		return false, s.changed()
	}
	s.bytes += n
	f.reserved += n
	return true, nil
}

// diskPart: the files take at most this part of what is free without them. A record is on the disk three times for a
// moment: in its body file, in a Scratch and in the archive.
const diskPart = 3

// seal notes that f grows no more.
func (s *Store) seal(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.growing, f); i >= 0 {
		s.growing = slices.Delete(s.growing, i, i+1)
		s.sealed++
		s.tell()
	}
}

// release takes back what f has.
func (s *Store) release(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.growing, f); i >= 0 {
		s.growing = slices.Delete(s.growing, i, i+1)
	} else {
		s.sealed--
	}
	s.bytes -= f.reserved
	s.tell()
}

// countWait counts a body that begins to wait, and returns what counts its end.
func (s *Store) countWait() (ended func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits++
	s.waiting++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting--
	}
}

// changed returns what is closed at the next change. The caller holds the lock.
func (s *Store) changed() <-chan struct{} {
	if s.freed == nil {
		s.freed = make(chan struct{})
	}
	return s.freed
}

// tell wakes all files that wait. The caller holds the lock.
func (s *Store) tell() {
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// remove closes and removes a file.
func (s *Store) remove(f vfs.File) {
	if err := errors.Join(f.Close(), vfs.RemoveIfExists(s.o.FS, f.Name())); err != nil {
		s.o.Warn("a body file could not be removed; the next start of the crawl removes it",
			"file", f.Name(), "error", err)
	}
}

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

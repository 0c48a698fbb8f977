package cold

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"orbweaver/internal/vfs"
)

// ErrClosed is returned by calls after Close.
var ErrClosed = errors.New("cold: closed")

// Store maps keys of hosts to forms on disk. While a host is here, no other component has it.
type Store struct {
	bufferBytes int

	collecting sync.Mutex // held during a Collect or a Walk; locked before the following ones

	flushing sync.Mutex // held during writes to files; locked before mu
	segments segments

	mu    sync.Mutex // guards the following fields; not held during disk operations
	hosts hosts
	log   recordLog
}

// newStore returns a store without files whose log is between head and tail.
func newStore(fsys vfs.FS, o Options, head, tail Position) *Store {
	return &Store{
		bufferBytes: o.BufferBytes,
		segments: segments{
			fs: fsys, dir: o.Dir, files: make(map[uint32]vfs.File), dirty: make(map[uint32]bool),
		},
		hosts: hosts{seed: o.Seed},
		log:   recordLog{segmentBytes: o.SegmentBytes, head: head, tail: tail},
	}
}

// Stats is the content of a Store at one moment.
type Stats struct {
	Hosts       uint64
	LiveBytes   int64 // on disk, of the hosts
	LogBytes    int64 // on disk in all, except files before the head that are not released yet
	TableBytes  int64 // of memory
	BufferBytes int   // not yet written
}

// Len returns the number of hosts in the store.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts.table.used
}

// Stats returns the current sizes. It costs one pass over the 1,024 shards of the table.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Hosts: uint64(s.hosts.table.used), LiveBytes: s.hosts.bytes, LogBytes: s.log.bytes,
		TableBytes: s.hosts.table.bytes(), BufferBytes: s.log.buffered,
	}
}

// Room reports whether more hosts may be put. It is false when the log nearly has the largest number of files. The
// remaining 1,024 files are for the records of Take and Collect.
func (s *Store) Room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.filesBehindHead() < segmentsMax-1024
}

// Put stores a host. It borrows key and form. The key must not be in the store. A key has at most 65,535 bytes, key and
// form together at most 16 MiB; Put panics above these limits.
func (s *Store) Put(key, form []byte) {
	if len(key) > keyMax || len(key)+len(form) > bodyMax {
		panic(fmt.Sprintf("BUG: cold: host too large: key of %d bytes, form of %d bytes", len(key), len(form)))
	}
	hash := s.hosts.hash(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	p, size := s.log.append(kindHost, key, form)
	s.hosts.add(hash, p, size)
}

// Buffered reports whether BufferBytes or more wait in memory, so that the caller should call Flush.
func (s *Store) Buffered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.buffered >= s.bufferBytes
}

// Flush writes the records that wait in memory. It may be repeated after an error.
func (s *Store) Flush() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	work := s.log.seal()
	s.mu.Unlock()
	for _, c := range work {
		if err := s.segments.write(c); err != nil {
			return err
		}
		s.mu.Lock()
		s.log.removeFirst()
		s.mu.Unlock()
	}
	return nil
}

// Take removes a host (H2) and appends its form to dst. found is false if the key is unknown. After an error the host
// is still in the store.
func (s *Store) Take(dst, key []byte) (form []byte, found bool, err error) {
	return find(s, dst, key, true)
}

// Read is Take without removing the host.
func (s *Store) Read(dst, key []byte) (form []byte, found bool, err error) {
	return find(s, dst, key, false)
}

// find finds a host; take says that it is removed.
func find(s *Store, dst, key []byte, take bool) (form []byte, found bool, err error) {
	hash := s.hosts.hash(key)
	var scratch [2]uint64
	for moved := true; moved; {
		moved = false
		s.mu.Lock()
		places := s.hosts.table.find(hash, scratch[:0])
		s.mu.Unlock()
		for _, place := range places {
			if form, found, moved, err = findAt(s, dst, key, hash, place, take); found || moved || err != nil {
				break
			}
		}
	}
	if !found || err != nil {
		return dst, false, err
	}
	return form, true, nil
}

// findAt finds the host at a position if it has this key, and removes it if take is set. If the host was moved
// meanwhile, moved is true, and the bytes that were read are ignored.
func findAt(
	s *Store, dst, key []byte, hash, place uint64, take bool,
) (form []byte, found, moved bool, err error) {
	s.mu.Lock()
	p := s.log.position(place)
	b := s.log.inMemory(p)
	s.mu.Unlock()
	r, err := s.segments.read(p, b)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.hosts.table.has(hash, place):
		return dst, false, true, nil
	case err != nil:
		return dst, false, false, err
	case r.kind != kindHost || !bytes.Equal(r.key, key): // H1: another key with the same hash
		return dst, false, false, nil
	}
	if take {
		s.hosts.remove(hash, p, r.size)
		s.log.append(kindRemoval, nil, appendRemoval(nil, removal{hash, p, r.size}))
	}
	return append(dst, r.form...), true, false, nil
}

// Close closes the files. Changes since the last Sync may be lost. It may be called again.
func (s *Store) Close() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	return s.segments.close()
}

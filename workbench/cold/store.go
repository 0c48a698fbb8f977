package cold

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// ErrClosed is returned by calls after Close.
var ErrClosed = errors.New("cold: closed")

// Store maps keys of hosts to forms on disk. While a host is here, no other component has it.
type Store struct {
	fs vfs.FS
	o  Options

	flushing sync.Mutex // held during writes to files; locked before mu

	mu            sync.Mutex
	table         table
	head          Position // start of the valid records
	tail          Position // position of the next record; at offset 0 the file does not exist yet
	sum           uint64   // of the hashes of all hosts in the store
	live          int64    // bytes of their records
	log           int64    // bytes of all records from head to tail
	chunks        []*chunk // not yet written, in order
	bufferedBytes int      // bytes in chunks
	files         map[uint32]vfs.File
	dirty         map[uint32]bool // written and not yet synced
	newNames      bool            // files were created, and the directory is not yet synced
	syncErr       error           // the error of a failed sync; no other sync is tried
	closed        bool
}

// Stats is the content of a Store at one moment.
type Stats struct {
	Hosts       uint64
	LiveBytes   int64 // on disk, of the hosts
	LogBytes    int64 // on disk in all, except files before the head that are not released yet
	TableBytes  int64 // of memory
	BufferBytes int   // not yet written
}

// hash returns the hash by which a key is found.
func (s *Store) hash(key []byte) uint64 { return xxh3.HashSeed(key, s.o.Seed) }

// segmentsMax is the largest number of files of a log: a slot of the table has this many numbers.
const segmentsMax = 1 << (placeBits - offsetBits)

const offsetBits = 23 // bits of an offset, in units of recordAlign

// placeOf encodes a position for the table.
func placeOf(p Position) uint64 {
	return uint64(p.Segment)%segmentsMax<<offsetBits | uint64(p.Offset)/recordAlign
}

// position decodes a position of the table. This is unique because the log has fewer than segmentsMax files.
func (s *Store) position(place uint64) Position {
	ahead := (uint32(place>>offsetBits) - s.head.Segment) % segmentsMax
	return Position{s.head.Segment + ahead, int64(place % (1 << offsetBits) * recordAlign)}
}

// Len returns the number of hosts in the store.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.table.used
}

// Stats returns the current sizes. It costs one pass over the 1,024 shards of the table.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Hosts: uint64(
			s.table.used,
		), LiveBytes: s.live, LogBytes: s.log, TableBytes: s.table.bytes(), BufferBytes: s.bufferedBytes,
	}
}

// Room reports whether more hosts may be put. It is false when the log nearly has the largest number of files. The
// remaining 1,024 files are for the records of Take and Collect.
func (s *Store) Room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.Segment-s.head.Segment < segmentsMax-1024
}

// Put stores a host. It borrows key and form. The key must not be in the store. A key has at most 65,535 bytes, key and
// form together at most 16 MiB; Put panics above these limits.
func (s *Store) Put(key, form []byte) {
	if len(key) > keyMax || len(key)+len(form) > bodyMax {
		panic(fmt.Sprintf("BUG: cold: host too large: key of %d bytes, form of %d bytes", len(key), len(form)))
	}
	hash := s.hash(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	p, size := s.append(kindHost, key, form)
	s.addHost(hash, p, size)
}

// addHost adds a host to the table and the sums.
func (s *Store) addHost(hash uint64, p Position, size int64) {
	s.table.add(hash, placeOf(p))
	s.sum += hash
	s.live += size
}

// removeHost removes a host and reports whether it was there.
func (s *Store) removeHost(hash uint64, p Position, size int64) bool {
	if !s.table.remove(hash, placeOf(p)) {
		return false
	}
	s.sum -= hash
	s.live -= size
	return true
}

// Take removes a host (H2) and appends its form to dst. found is false if the key is unknown. After an error the host
// is still in the store.
func (s *Store) Take(dst, key []byte) (form []byte, found bool, err error) {
	hash := s.hash(key)
	var scratch [2]uint64
	for moved := true; moved; {
		moved = false
		s.mu.Lock()
		places := s.table.find(hash, scratch[:0])
		s.mu.Unlock()
		for _, place := range places {
			if form, found, moved, err = s.takeAt(dst, key, hash, place); found || moved || err != nil {
				break
			}
		}
	}
	if !found || err != nil {
		return dst, false, err
	}
	return form, true, nil
}

// takeAt removes the host at a position if it has this key. If the host was moved meanwhile, moved is true, and the
// bytes that were read are ignored.
func (s *Store) takeAt(dst, key []byte, hash, place uint64) (form []byte, found, moved bool, err error) {
	s.mu.Lock()
	p := s.position(place)
	s.mu.Unlock()
	r, err := s.read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.table.has(hash, place):
		return dst, false, true, nil
	case err != nil:
		return dst, false, false, err
	case r.kind != kindHost || !bytes.Equal(r.key, key): // H1: another key with the same hash
		return dst, false, false, nil
	}
	s.removeHost(hash, p, r.size)
	s.append(kindRemoval, nil, appendRemoval(nil, removal{hash, p, r.size}))
	return append(dst, r.form...), true, false, nil
}

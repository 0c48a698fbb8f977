package cold

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// Store holds hosts that are nowhere else.
type Store struct {
	fs vfs.FS
	o  Options

	flushing sync.Mutex // one writes at a time; before mu

	mu       sync.Mutex
	table    table
	head     Position // where what counts begins
	tail     Position // where the next record goes; offset 0: the file is not begun
	sum      uint64   // of the hashes of all hosts that are in
	live     int64    // bytes of their records
	log      int64    // bytes of all records from head to tail
	chunks   []*chunk // not written yet, in order
	waiting  int      // bytes in them
	files    map[uint32]vfs.File
	dirty    map[uint32]bool // not synced since they were written
	newNames bool            // the directory is not synced
	lost     error           // a sync has failed, and none is tried again
	closed   bool
}

// Stats is what a Store holds at one moment.
type Stats struct {
	Hosts       uint64
	LiveBytes   int64 // on disk, of these
	LogBytes    int64 // on disk in all, but for what an unreleased cut still names
	TableBytes  int64 // in memory
	BufferBytes int   // waiting to be written
}

// Hash is the hash by which a key is found.
func (s *Store) hash(key []byte) uint64 { return xxh3.HashSeed(key, s.o.Seed) }

// segmentsMax is how many files a log has at most: that is how far a place in the table can count.
const segmentsMax = 1 << (placeBits - offsetBits)

const offsetBits = 23 // of an offset, in units of recordAlign

// placeOf is a position as it is in the table.
func placeOf(p Position) uint64 {
	return uint64(p.Segment)%segmentsMax<<offsetBits | uint64(p.Offset)/recordAlign
}

// position is where a place in the table is; the log has fewer than segmentsMax files.
func (s *Store) position(place uint64) Position {
	ahead := (uint32(place>>offsetBits) - s.head.Segment) % segmentsMax
	return Position{s.head.Segment + ahead, int64(place % (1 << offsetBits) * recordAlign)}
}

// Len is how many hosts are in.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.table.used
}

// Stats looks at all of it; it costs a walk over the table's shards.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Hosts: uint64(s.table.used), LiveBytes: s.live, LogBytes: s.log, TableBytes: s.table.bytes(), BufferBytes: s.waiting,
	}
}

// Room says whether more hosts may be put in: the log has not as many files as it can have. There are always some hundred
// to spare for what else is written.
func (s *Store) Room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tail.Segment-s.head.Segment < segmentsMax-1024
}

// Put takes a host in. It borrows both. The key, of at most 65535 bytes, must not be in; key and form are 16 MiB at most.
func (s *Store) Put(key, form []byte) {
	if len(key) > keyMax || len(key)+len(form) > bodyMax {
		panic(fmt.Sprintf("BUG: cold: a host with a key of %d bytes and a form of %d", len(key), len(form)))
	}
	hash := s.hash(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	p, size := s.append(kindHost, key, form)
	s.enter(hash, p, size)
}

// enter adds a host to the table and the sums.
func (s *Store) enter(hash uint64, p Position, size int64) {
	s.table.add(hash, placeOf(p))
	s.sum += hash
	s.live += size
}

// leave takes it out, if it is there.
func (s *Store) leave(hash uint64, p Position, size int64) bool {
	if !s.table.remove(hash, placeOf(p)) {
		return false
	}
	s.sum -= hash
	s.live -= size
	return true
}

// Take takes a host out (H2) and appends its form to dst; false if there is none with this key. After an error it is still in.
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

// takeAt takes the host at a place, if it is the one with this key. It may have moved meanwhile: then what was read there means nothing.
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
	case r.kind != kindHost || !bytes.Equal(r.key, key): // H1: another with this hash
		return dst, false, false, nil
	}
	s.leave(hash, p, r.size)
	s.append(kindGone, nil, appendGrave(nil, grave{hash, p, r.size}))
	return append(dst, r.form...), true, false, nil
}

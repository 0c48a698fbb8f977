package seen

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"orbweaver/internal/vfs"
)

// Digest is a SHA-1 of a payload, or 20 bytes of another digest.
type Digest [20]byte

// First is the record that had a payload first, as a revisit record must name it.
type First struct {
	RecordID [16]byte  // the UUID of the WARC record
	URI      string    // its target, at most URIBytesMax bytes
	Date     time.Time // its WARC-Date; returned in UTC
}

// Options configure a Map.
type Options struct {
	// File is the name of the file; its directory is made if missing.
	File string
	// BufferBytes is how much is collected before it is written: 0 means 64 KiB. Up to four times as much is held
	// while the disk is slow or full.
	BufferBytes int
}

const bufferBytesDefault = 64 << 10

// WithDefaults returns a copy with the zeros replaced.
func (o Options) WithDefaults() Options {
	if o.BufferBytes == 0 {
		o.BufferBytes = bufferBytesDefault
	}
	return o
}

// Validate returns all faults of the options, joined.
func (o Options) Validate() error {
	var faults []error
	if o.File == "" {
		faults = append(faults, errors.New("seen: no file"))
	}
	if o.BufferBytes < 1 {
		faults = append(faults, fmt.Errorf("seen: a buffer of %d bytes", o.BufferBytes))
	}
	return errors.Join(faults...)
}

// Map maps digests to first records. Safe for concurrent use as the package's page says.
type Map struct {
	fsys vfs.FS
	o    Options
	file vfs.File
	// hash is seeded anew with each table, so that whoever chooses payloads cannot choose where they lie.
	hash func(Digest) uint64

	mu      sync.Mutex
	idle    sync.Cond // on mu: a write has ended
	table   table
	written int64  // length of the file that counts
	writing []byte // goes to the file at `written` just now, and is not changed meanwhile; nil if none
	buf     []byte // comes behind it
	failed  error  // Sync has failed
	closed  bool
	stats   Stats
}

// Stats counts what a Map has done since Open.
type Stats struct {
	Digests     uint64 // in the map
	Lookups     uint64 // Lookup and Insert
	Hits        uint64 // of those, found
	Fresh       uint64 // inserted
	Collisions  uint64 // entries read whose digest was another one
	FileBytes   int64  // with what is still in the buffer
	TableBytes  int64  // memory of the table
	WriteErrors uint64 // writes that failed and are tried again
}

// Lookup returns the first record with this digest.
func (m *Map) Lookup(d Digest) (First, bool, error) {
	f, _, found, err := m.find(d, nil)
	return f, found, err
}

// Insert maps d to f unless it is mapped already: then fresh is false and first is what it is mapped to. Of many at a
// time one wins. After an error nothing has changed.
func (m *Map) Insert(d Digest, f First) (first First, fresh bool, err error) {
	if len(f.URI) > URIBytesMax {
		return First{}, false, ErrURI
	}
	f.Date = f.Date.UTC()
	first, fresh, _, err = m.find(d, &f)
	return first, fresh, err
}

// find looks d up and, if insert is not nil and d is not there, inserts it.
func (m *Map) find(d Digest, insert *First) (first First, fresh, found bool, err error) {
	hash := m.hash(d)
	var room [4]int64
	var known []int64 // offsets with the same hash that have proved to be of other digests
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Lookups++
	for {
		if m.closed {
			return First{}, false, false, ErrClosed
		}
		offsets := m.table.appendOffsets(room[:0], hash)
		next, ok := unproved(offsets, known)
		if !ok {
			break
		}
		have, first, err := m.read(next)
		if err != nil {
			return First{}, false, false, err
		}
		if have == d {
			m.stats.Hits++
			return first, false, true, nil
		}
		m.stats.Collisions++
		known = append(known, next)
	}
	if insert == nil {
		return First{}, false, false, nil
	}
	// From here on the lock is not let go until the digest is in the table, unless there is no room: then somebody else
	// may have been quicker, and it begins again.
	waited, err := m.makeRoom()
	if err != nil {
		return First{}, false, false, err
	}
	if waited {
		m.stats.Lookups-- // the second look counts it
		m.mu.Unlock()
		first, fresh, found, err = m.find(d, insert)
		m.mu.Lock()
		return first, fresh, found, err
	}
	m.table.insert(hash, m.written+int64(len(m.writing)+len(m.buf)))
	m.buf = appendEntry(m.buf, d, *insert)
	m.stats.Fresh++
	if len(m.buf) >= m.o.BufferBytes && m.writing == nil {
		_ = m.write() // counted, and kept for the next try: the digest is in the map whatever the disk says
	}
	return *insert, true, false, nil
}

// unproved returns an offset that is not known to be another digest's.
func unproved(offsets, known []int64) (int64, bool) {
next:
	for _, o := range offsets {
		for _, k := range known {
			if o == k {
				continue next
			}
		}
		return o, true
	}
	return 0, false
}

// Len returns the number of digests.
func (m *Map) Len() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.table.count
}

// Stats returns the counters and sizes of this moment.
func (m *Map) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := m.stats
	st.Digests = m.table.count
	st.FileBytes = m.written + int64(len(m.writing)+len(m.buf))
	st.TableBytes = int64(m.table.slots) * slotBytes
	return st
}

package seen

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/options"
	"orbweaver/internal/vfs"
)

// Errors of a Map.
var (
	// ErrClosed is returned by calls after Close.
	ErrClosed = errors.New("seen: closed")
	// ErrURI is returned by Insert for a URI that is longer than URIBytesMax.
	ErrURI = errors.New("seen: URI too long")
	// ErrDate is returned by Insert for a date more than about 17,000 years from 1970.
	ErrDate = errors.New("seen: date out of range")
	// ErrFull is returned by Insert when the entries take 1 TiB, the largest offset of the index.
	ErrFull = errors.New("seen: the map is full")
)

// Digest is the SHA-1 of a payload, or 20 bytes of another digest.
type Digest [20]byte

// First is the first record with a payload: what a revisit record must name.
type First struct {
	RecordID [16]byte  // the UUID of the WARC record
	URI      string    // target URI, at most URIBytesMax bytes
	Date     time.Time // WARC-Date; returned in UTC
}

// Options configure a Map.
type Options struct {
	// Dir is the directory of the files; it is created if missing.
	Dir string `kong:"-"`
	// MemoryBytes limits the memory of filters and tables. The default is enough for 1.3x10^8 digests. With more
	// digests the filters are wrong more often, which costs reads. They never take less than about two bits for each
	// digest.
	MemoryBytes int64 `name:"seen-memory" type:"size" help:"Memory of the index of payload digests, which finds pages with equal content. 192MiB is enough for 100 million pages; raise it in proportion." default:"192MiB" least:"16KiB" placeholder:"SIZE"`
	// BufferBytes is the size of one write; 0 means 64 KiB. Up to four times as much is held while the disk is slow or
	// full.
	BufferBytes int `kong:"-"`
}

const (
	memoryBytesMin     = 12 << 10
	bufferBytesDefault = 64 << 10
	// tableShare: the two tables take a twelfth of the memory, in which a digest takes slotsPerDigest slots.
	tableShare = 12
)

// WithDefaults returns a copy with the default for each zero field.
func (o Options) WithDefaults() Options {
	options.SetDefaults(&o)
	if o.BufferBytes == 0 {
		o.BufferBytes = bufferBytesDefault
	}
	return o
}

// Validate returns all faults of the options, joined.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("seen: no directory"))
	}
	if o.MemoryBytes < memoryBytesMin {
		faults = append(
			faults,
			fmt.Errorf("seen: %d bytes of memory are too few; give at least %d", o.MemoryBytes, memoryBytesMin),
		)
	}
	if o.BufferBytes < 1 {
		faults = append(faults, fmt.Errorf("seen: a buffer of %d bytes", o.BufferBytes))
	}
	return errors.Join(faults...)
}

// tableDigests returns the capacity of each of the two tables: a power of two.
func (o Options) tableDigests() int {
	return 1 << (bits.Len64(uint64(o.MemoryBytes/(2*tableShare*slotsPerDigest*slotBytes))) - 1)
}

// Map maps digests to first records. See the package page for concurrent use.
//
// Lock order: turn before mu, reading before mu. mu is never held during disk access.
type Map struct {
	fsys vfs.FS
	o    Options
	file vfs.File // the entries
	seed uint64
	// hash uses a seed of its own for each map, so that the author of payloads cannot choose their places.
	hash func(Digest) uint64

	// turn is held by the goroutine that merges.
	turn sync.Mutex
	// reading is held shared while runs are read, and exclusively to close one.
	reading sync.RWMutex
	view    atomic.Pointer[view]

	mu         sync.Mutex
	idle       sync.Cond // on mu: a write has ended
	entries    entries
	tableMax   int // digests
	filling    *table
	frozen     *table // full; being merged into the runs
	frozenEnd  int64  // end of its entries
	spare      *table
	epoch      uint64 // counts the tables that have become part of a run
	runs       []*run // oldest first
	merge      *merge // changed under turn and mu, used under turn
	obsolete   []obsolete
	serial     uint64 // of the next run
	generation uint64
	cut        []*run // what the last Cut names
	cutLength  int64
	syncing    *run // Sync has it in hand: it is not to be closed
	count      uint64
	failed     error // Sync has failed
	closed     bool
	stats      Stats
	reads      readStats
	probes     []*probe // at rest
}

// view is the runs as lookups see them: runs[:kept], and then for each segment either the other runs or the merge's
// output.
type view struct {
	runs []*run
	kept int
	m    *merge // nil: all runs
}

// Stats counts what a Map did since Open.
type Stats struct {
	Digests      uint64 // digests in the map
	Lookups      uint64 // Lookup and Insert
	Hits         uint64 // of these, digests that were known
	Fresh        uint64 // inserted
	Collisions   uint64 // entries read with another digest but the same hash
	BlocksRead   uint64 // of runs, for look-ups
	FilterErrors uint64 // of these, reads for a digest that was not there
	Merges       uint64
	Merged       uint64 // records written by them
	WriteErrors  uint64 // writes that failed and are tried again
	Runs         int
	EntryBytes   int64 // with the bytes in the buffer
	RunBytes     int64
	MemoryBytes  int64 // of tables and filters
}

// readStats are counted without a lock.
type readStats struct{ collisions, blocks, errors atomic.Uint64 }

// seededHash is the hash of a map's index.
func seededHash(seed uint64) func(Digest) uint64 {
	return func(d Digest) uint64 { return xxh3.HashSeed(d[:], seed) }
}

// Lookup returns the first record with this digest. The error is that of the disk, or wraps vfs.ErrCorrupt.
func (m *Map) Lookup(d Digest) (First, bool, error) {
	f, _, found, err := m.find(d, nil)
	return f, found, err
}

// Insert maps d to f unless d is known: then fresh is false and first is the earlier record. Of several concurrent
// Inserts of one digest, one wins. After an error nothing has changed, and the call may be repeated.
func (m *Map) Insert(d Digest, f First) (first First, fresh bool, err error) {
	if len(f.URI) > URIBytesMax {
		return First{}, false, ErrURI
	}
	if !dated(f.Date) {
		return First{}, false, ErrDate
	}
	f.Date = f.Date.UTC()
	first, fresh, _, err = m.find(d, &f)
	return first, fresh, err
}

// Len returns the number of digests.
func (m *Map) Len() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count
}

// Stats returns the current counters and sizes.
func (m *Map) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := m.stats
	st.Digests, st.Runs, st.EntryBytes = m.count, len(m.runs), m.entries.end()
	st.Collisions, st.BlocksRead, st.FilterErrors = m.reads.collisions.Load(), m.reads.blocks.Load(), m.reads.errors.Load()
	for _, t := range []*table{m.filling, m.frozen, m.spare} {
		if t != nil {
			st.MemoryBytes += int64(len(t.slots)) * slotBytes
		}
	}
	for _, r := range m.runs {
		st.RunBytes += r.bytes
		st.MemoryBytes += r.filterMemory()
	}
	if m.merge != nil {
		st.MemoryBytes += m.merge.out.filterMemory()
	}
	return st
}

package dedup

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/options"
)

// Errors of a Map.
var (
	// ErrClosed is returned by calls after Close.
	ErrClosed = errors.New("dedup: closed")
	// ErrURI is returned by Insert for a URI that is longer than URIBytesMax.
	ErrURI = errors.New("dedup: URI too long")
	// ErrDate is returned by Insert for a date more than about 17,000 years from 1970.
	ErrDate = errors.New("dedup: date out of range")
	// ErrFull is returned by Insert when the entries take 1 TiB, the largest offset of the index.
	ErrFull = errors.New("dedup: the map is full")
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
	MemoryBytes int64 `name:"dedup-memory" type:"size" help:"Memory of the index of payload digests, which finds pages with equal content. 192MiB is enough for 100 million pages; raise it in proportion." default:"192MiB" least:"16KiB" placeholder:"SIZE"`
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
		faults = append(faults, errors.New("dedup: no directory"))
	}
	if o.MemoryBytes < memoryBytesMin {
		faults = append(faults,
			fmt.Errorf("dedup: %d bytes of memory are too few; give at least %d", o.MemoryBytes, memoryBytesMin))
	}
	if o.BufferBytes < 1 {
		faults = append(faults, fmt.Errorf("dedup: a buffer of %d bytes", o.BufferBytes))
	}
	return errors.Join(faults...)
}

// tableDigests returns the capacity of each of the two tables: a power of two.
func (o Options) tableDigests() int {
	return 1 << (bits.Len64(uint64(o.MemoryBytes/(2*tableShare*slotsPerDigest*slotBytes))) - 1)
}

// Map maps digests to first records. See the package page for concurrent use.
//
// Lock order: the index's turn, the reading of its runs, mu. mu is never held during disk access.
type Map struct {
	// hash uses a seed of its own for each map, so that the author of payloads cannot choose their places.
	hash       func(Digest) uint64
	collisions atomic.Uint64

	mu             sync.Mutex // guards what follows; log and index say what it does not guard
	log            entryLog
	index          index
	lastCheckpoint unsyncedCheckpoint
	usage          usage
	probes         probePool
	closed         bool
}

// usage counts the calls of Lookup and Insert.
type usage struct {
	lookups uint64
	hits    uint64
	fresh   uint64
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

// seededHash is the hash of a map's index.
func seededHash(seed uint64) func(Digest) uint64 {
	return func(d Digest) uint64 { return xxh3.HashSeed(d[:], seed) }
}

// Len returns the number of digests.
func (m *Map) Len() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.index.count
}

// Stats returns the current counters and sizes.
func (m *Map) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := Stats{
		Lookups: m.usage.lookups, Hits: m.usage.hits, Fresh: m.usage.fresh,
		Collisions: m.collisions.Load(), EntryBytes: m.log.end(), WriteErrors: m.log.writeErrors,
	}
	m.index.addTo(&st)
	return st
}

// Tend merges as far as it is due. Usually there is nothing to do. If a table is frozen, it merges in proportion to how
// full the other one is. Call it after each Insert, while holding no lock that others need; what it does not do, Insert
// must do when there is no room. One caller at a time works, the others return at once. After an error nothing is lost,
// and the next call tries again.
func (m *Map) Tend() error {
	m.mu.Lock()
	due := m.index.tables.frozen != nil && !m.closed
	m.mu.Unlock()
	if !due {
		return nil
	}
	return m.index.tendIfDue()
}

// errEnough ends a scan.
var errEnough = errors.New("dedup: enough")

// Walk calls visit for at most n digests in the order of insertion. from is the place that the previous Walk returned,
// 0 for the first one. Entries from the place `to` on are left out; that is a Length of a Checkpoint, or WalkAll. over
// says that there are no more at the moment. Inserts may run meanwhile.
func (m *Map) Walk(from, to int64, n int, visit func(d Digest)) (next int64, over bool, err error) {
	m.mu.Lock()
	for m.log.writing != nil && !m.closed {
		m.log.idle.Wait()
	}
	if m.closed {
		m.mu.Unlock()
		return from, false, ErrClosed
	}
	end, buffered := m.log.snapshot()
	m.mu.Unlock()
	begin, last := max(from, headBytes), min(end+int64(len(buffered)), to)
	if begin >= last {
		return begin, true, nil
	}
	if begin >= end { // the head may not be written yet
		buffered, end = buffered[begin-end:], begin
	}
	err = m.log.scan(begin, end, bytes.NewReader(buffered), func(offset int64, d Digest) error {
		if n == 0 || offset >= last {
			next = offset
			return errEnough
		}
		n--
		visit(d)
		return nil
	})
	if errors.Is(err, errEnough) {
		return next, next >= last, nil
	}
	return end + int64(len(buffered)), true, err
}

// WalkAll is behind all entries.
const WalkAll = math.MaxInt64

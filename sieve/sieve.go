package sieve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/options"
)

// ErrClosed is returned by calls after Close.
var ErrClosed = errors.New("sieve: closed")

// Options configure a Sieve.
type Options struct {
	// Dir is the directory of the sieve's files. It is required, and created if missing. Other files in it are not
	// changed.
	Dir string `kong:"-"`
	// BucketBytes is the memory of both buckets together, fingerprints and payloads. Range 4 KiB to 64
	// GiB. The cost of a URL grows with the number of store blocks per URL of a bucket; one byte for each URL that will
	// be known is enough. With a large store, payloads wait in files that take five times as much. Adds without
	// WaitRoom may exceed it.
	BucketBytes int64 `name:"sieve-memory" type:"size" help:"Memory of new URLs before they are merged with the known ones on disk. One byte for each URL that will be known is enough; more saves disk accesses." default:"64MiB" least:"64KiB" most:"64GiB" placeholder:"SIZE"`
	// RunsMax is the most sorted files that the store may have between flushes. Default 8, at least 1.
	RunsMax int `kong:"-"`
	// Only has the fingerprints that Find is asked for. If it is not nil, Open loads no others of those that are not yet
	// in the store, and the sieve must not be used for anything else.
	Only []xxh3.Uint128 `kong:"-"`
}

const (
	bucketBytesMin = 4 << 10
	bucketBytesMax = 64 << 30 // the entries of a bucket are counted with 32 bits
	runsMaxDefault = 8
)

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	options.SetDefaults(&o)
	if o.RunsMax == 0 {
		o.RunsMax = runsMaxDefault
	}
	return o
}

// Validate returns all faults of o as a joined error, or nil.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("sieve: Dir is missing"))
	}
	if o.BucketBytes < bucketBytesMin {
		faults = append(faults,
			fmt.Errorf("sieve: BucketBytes is %d, must be at least %d", o.BucketBytes, bucketBytesMin))
	}
	if o.BucketBytes > bucketBytesMax {
		faults = append(faults,
			fmt.Errorf("sieve: BucketBytes is %d, must be at most %d", o.BucketBytes, int64(bucketBytesMax)))
	}
	if o.RunsMax < 1 {
		faults = append(faults, fmt.Errorf("sieve: RunsMax is %d, must be at least 1", o.RunsMax))
	}
	return errors.Join(faults...)
}

// Sieve lets each fingerprint pass once. The package page says which methods may be called at the same time.
type Sieve struct {
	files   fileSet
	store   store
	buckets buckets
	spiller spiller
	flushes flushTotals

	// checkpointMu is held by Write, Sync, Release and Close, also during I/O. They belong to one goroutine, so it
	// never waits for another one. Locked before all other locks.
	checkpointMu sync.Mutex

	// flushing is set during a Flush and while a snapshot is open, to detect a second caller.
	flushing atomic.Bool
}

// Stats counts what a Sieve has done since Open. Added = Duplicates + Known + Emitted + Pending while no call is
// running.
type Stats struct {
	Added        uint64 // calls of Add, and what Open found pending
	Duplicates   uint64 // dropped: the same flush already had them
	Known        uint64 // dropped: the store already had them
	Emitted      uint64 // payloads accepted by emit
	Pending      int    // fingerprints in both buckets
	PendingBytes int64  // memory in use by both buckets
	Flushes      uint64 // flushes without an error
	FlushErrors  uint64 // flushes with an error
	Keys         uint64 // fingerprints in the store
	Runs         int    // files of the store
	StoreBytes   int64  // their length
	IndexBytes   int64  // memory of their sparse index
	BytesRead    int64  // from the store, by flushes
	BytesWritten int64  // to the store, by flushes
	Obsolete     int    // files kept only for an older cut
	Spilled      int64  // bytes written before a flush, by WaitRoom and snapshots
	SpillErrors  uint64 // failed writes by WaitRoom; Flush returned their errors
}

// Add puts a fingerprint with its payload into the filling bucket. It never blocks and never fails. It borrows payload.
// It may be called by several goroutines and during a Flush, but not during Snapshot. It panics after Close.
func (s *Sieve) Add(fp xxh3.Uint128, payload []byte) { s.buckets.add(keyOf(fp), payload) }

// Full reports whether the filling bucket has reached its bound.
func (s *Sieve) Full() bool { return s.buckets.full() }

// Wake returns a channel with capacity one. It receives a signal when the filling bucket is nearly full, and after Open
// if a bucket was restored nearly full or not completely emitted. A failed Flush sends no signal; its caller knows the
// error.
func (s *Sieve) Wake() <-chan struct{} { return s.buckets.wake }

// WaitRoom waits while the filling bucket is full and no Flush has exchanged the buckets. So a slow disk slows down the
// producers, and memory stays bounded. Producers call it before a batch of Adds, and must not hold a lock that a Flush
// needs. If memory is short and a flush is not yet worth its cost, WaitRoom writes some payloads to a file. If that
// fails, the next Flush returns the error. WaitRoom returns the error of ctx when ctx is done, and ErrClosed after
// Close.
func (s *Sieve) WaitRoom(ctx context.Context) error {
	b := &s.buckets
	for {
		b.mu.Lock()
		closed, full, due, room := b.closed, b.filling.full(), s.spiller.due(), b.room.next
		b.mu.Unlock()
		switch {
		case closed:
			return ErrClosed
		case due && s.spiller.trySpill() && full:
			continue
		case !full:
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pending returns the number of fingerprints in both buckets.
func (s *Sieve) Pending() int {
	s.buckets.mu.Lock()
	defer s.buckets.mu.Unlock()
	return s.buckets.pending()
}

// Len returns the number of fingerprints in the store.
func (s *Sieve) Len() uint64 { return s.store.len() }

// Stats returns the current counters and sizes.
func (s *Sieve) Stats() Stats {
	st := s.flushes.load()
	s.buckets.fill(&st)
	s.spiller.fill(&st)
	s.store.fill(&st)
	st.Obsolete = s.files.obsoleteFiles()
	return st
}

// Contains reports whether fp is in the store, without regard to the buckets. It reads one block per run. It is for
// checks and tests and must not be called during a Flush.
func (s *Sieve) Contains(fp xxh3.Uint128) (bool, error) { return s.store.contains(fp) }

// Place is where a fingerprint is.
type Place int

// The places. Merging: a flush is under way, and may have the fingerprint.
const (
	Unknown Place = iota
	Known         // in the store: it has passed
	Pending       // waits in a bucket; it passes unless it is in the store
	Merging
)

// Find returns where fp is. It reads one block per run, and may be called at any time: if a flush replaces a run
// meanwhile, it tries again.
func (s *Sieve) Find(fp xxh3.Uint128) (Place, error) {
	const tries = 4
	place := s.buckets.find(keyOf(fp))
	known, err := s.store.contains(fp)
	for n := 1; n < tries && err != nil; n++ {
		known, err = s.store.contains(fp)
	}
	switch {
	case err != nil:
		return Unknown, err
	case known:
		return Known, nil
	default:
		return place, nil
	}
}

// Check reads the whole store and both buckets and returns all faults: damaged blocks, keys that do not ascend or are
// in two runs (S3), and wrong counts. It must not be called during a Flush or an Add.
func (s *Sieve) Check() error { return errors.Join(s.store.check(), s.buckets.check()) }

// Close closes the files and wakes waiting producers. Everything since the last checkpoint is lost. It must not be
// called during a Flush or an Add. A second Close does nothing.
func (s *Sieve) Close() error {
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	if !s.spiller.close() {
		return nil
	}
	return s.files.close(s.liveFiles())
}

// liveFiles returns the files of runs and buckets.
func (s *Sieve) liveFiles() []*storeFile {
	files, _ := s.store.checkpoint()
	return append(files, s.buckets.files()...)
}

package sieve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/options"
	"orbweaver/internal/vfs"
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
	BucketBytes int64 `name:"sieve-memory" type:"size" help:"Memory of new URLs before they are merged with the known ones on disk. One byte for each URL that will be known is enough; more saves disk accesses." default:"64MiB" least:"64KiB" placeholder:"SIZE"`
	// RunsMax is the most sorted files that the store may have between flushes. Default 8, at least 1.
	RunsMax int `kong:"-"`
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
		faults = append(
			faults,
			fmt.Errorf("sieve: BucketBytes is %d, must be at least %d", o.BucketBytes, bucketBytesMin),
		)
	}
	if o.BucketBytes > bucketBytesMax {
		faults = append(
			faults,
			fmt.Errorf("sieve: BucketBytes is %d, must be at most %d", o.BucketBytes, int64(bucketBytesMax)),
		)
	}
	if o.RunsMax < 1 {
		faults = append(faults, fmt.Errorf("sieve: RunsMax is %d, must be at least 1", o.RunsMax))
	}
	return errors.Join(faults...)
}

// Sieve lets each fingerprint pass once. The package page says which methods may be called at the same time.
type Sieve struct {
	fsys  vfs.FS
	o     Options
	wake  chan struct{} // capacity 1
	ranks *byteRanks

	// checkpointMu is held by Write, Sync, Release and Close, also during I/O. They belong to one goroutine, so it
	// never waits for another one. Locked before mu.
	checkpointMu    sync.Mutex
	checkpointFiles []*storeFile // of the last checkpoint, for Sync

	// writeMu is held while payloads are written to a pending file, and while a bucket is frozen. Locked after
	// checkpointMu and before mu.
	writeMu sync.Mutex

	// flushing is set during a Flush and while a snapshot is open, to detect a second caller.
	flushing atomic.Bool

	// mu is held for a few instructions and the copying of a payload, never during I/O.
	mu         sync.Mutex
	filling    *bucket
	frozen     *bucket // being flushed, or left by a failed Flush; else nil
	frozenSize int64
	spare      *bucket // nil if frozen is not nil
	room       chan struct{}
	runs       []*run // largest and oldest first; the slice is replaced, never changed
	obsolete   []obsolete
	spareFiles []*storeFile // unused pending files, at most as many as there are buckets
	spillErr   error        // the next Flush returns it
	serial     uint64
	generation uint64
	failed     error // the error of a failed Sync; the state on disk is then unknown
	closed     bool
	stats      Stats
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
func (s *Sieve) Add(fp xxh3.Uint128, payload []byte) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic("BUG: Add on a closed sieve")
	}
	b := s.filling
	b.add(keyOf(fp), payload)
	s.stats.Added++
	ripe := !b.wakeSent && b.flushDue()
	b.wakeSent = b.wakeSent || ripe
	s.mu.Unlock()
	if ripe {
		s.signalWake()
	}
}

// signalWake sends to Wake, unless a signal is already waiting there.
func (s *Sieve) signalWake() {
	select {
	case s.wake <- struct{}{}:
	default: // a signal is already waiting
	}
}

// Full reports whether the filling bucket has reached its bound.
func (s *Sieve) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filling.full()
}

// Wake returns a channel with capacity one. It receives a signal when the filling bucket is nearly full, and after Open
// if a bucket was restored nearly full or not completely emitted. A failed Flush sends no signal; its caller knows the
// error.
func (s *Sieve) Wake() <-chan struct{} { return s.wake }

// WaitRoom waits while the filling bucket is full and no Flush has exchanged the buckets. So a slow disk slows down the
// producers, and memory stays bounded. Producers call it before a batch of Adds, and must not hold a lock that a Flush
// needs. If memory is short and a flush is not yet worth its cost, WaitRoom writes some payloads to a file. If that
// fails, the next Flush returns the error. WaitRoom returns the error of ctx when ctx is done, and ErrClosed after
// Close.
func (s *Sieve) WaitRoom(ctx context.Context) error {
	for {
		s.mu.Lock()
		closed, full, due, room := s.closed, s.filling.full(), s.spillDue(), s.room
		s.mu.Unlock()
		switch {
		case closed:
			return ErrClosed
		case due && s.trySpill() && full:
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

// wakeWaiting lets the waiting producers check again. mu is held.
func (s *Sieve) wakeWaiting() {
	close(s.room)
	s.room = make(chan struct{})
}

// Pending returns the number of fingerprints in both buckets.
func (s *Sieve) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending()
}

// pending requires mu.
func (s *Sieve) pending() int {
	n := s.filling.payloads.arrivals
	if s.frozen != nil {
		n += int(s.frozen.live.unemitted.Load())
	}
	return n
}

// Len returns the number of fingerprints in the store.
func (s *Sieve) Len() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.len()
}

// len requires mu.
func (s *Sieve) len() uint64 {
	var n uint64
	for _, r := range s.runs {
		n += r.count
	}
	return n
}

// Stats returns the current counters and sizes.
func (s *Sieve) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Pending = s.pending()
	st.PendingBytes = s.filling.size() + s.frozenSize
	st.Keys = s.len()
	st.Runs = len(s.runs)
	st.Obsolete = len(s.obsolete)
	for _, r := range s.runs {
		st.StoreBytes += r.bytes
		st.IndexBytes += int64(r.blocks()) * indexBytes
	}
	return st
}

// Contains reports whether fp is in the store, without regard to the buckets. It reads one block per run. It is for
// checks and tests and must not be called during a Flush.
func (s *Sieve) Contains(fp xxh3.Uint128) (bool, error) {
	ask, hit := []entry{newEntry(keyOf(fp), 0)}, []uint8{0}
	for _, r := range s.currentRuns() {
		if err := newLookup(r, 1, s.ranks).find(ask, hit); err != nil || hit[0] == 1 {
			return err == nil, err
		}
	}
	return false, nil
}

// currentRuns returns the current runs.
func (s *Sieve) currentRuns() []*run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

// usable returns the error that stops the sieve, or nil.
func (s *Sieve) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return s.failed
}

// Close closes the files and wakes waiting producers. Everything since the last checkpoint is lost. It must not be
// called during a Flush or an Add. A second Close does nothing.
func (s *Sieve) Close() error {
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.wakeWaiting()
	files := append(s.liveFiles(), s.spareFiles...)
	for _, o := range s.obsolete {
		files = append(files, o.file)
	}
	s.mu.Unlock()
	var faults []error
	for _, f := range files {
		if err := f.Close(); err != nil {
			faults = append(faults, fmt.Errorf("sieve: %w", err))
		}
	}
	return errors.Join(faults...)
}

// liveFiles returns the files of runs and buckets. mu is held.
func (s *Sieve) liveFiles() []*storeFile {
	var files []*storeFile
	for _, r := range s.runs {
		files = append(files, r.file)
	}
	for _, b := range []*bucket{s.frozen, s.filling} {
		if b == nil {
			continue
		}
		for _, f := range []*storeFile{b.payloads.file, b.live.mask.file} {
			if f != nil {
				files = append(files, f)
			}
		}
	}
	return files
}

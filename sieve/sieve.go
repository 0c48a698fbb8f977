package sieve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

// Options configure a Sieve.
type Options struct {
	// Dir is the directory of the sieve's files; it is made if missing. Other files in it are left alone.
	Dir string
	// BucketBytes is the memory of both buckets together, fingerprints and payloads: 0 means 64 MiB, at least 4 KiB, at
	// most 64 GiB. A URL's cost grows with the number of blocks of the store for each URL of a bucket; one byte for each
	// URL that will be known is enough. In a large store payloads wait in files, five times as long as this.
	// Adds made without asking WaitRoom may go above it.
	BucketBytes int64
	// RunsMax is how many sorted files the store may have between flushes: 0 means 8, at least 1.
	RunsMax int
}

const (
	bucketBytesDefault = 64 << 20
	bucketBytesMin     = 4 << 10
	bucketBytesMax     = 64 << 30 // so that 32 bits count the entries of a bucket
	runsMaxDefault     = 8
)

// WithDefaults returns a copy with the zeros replaced.
func (o Options) WithDefaults() Options {
	if o.BucketBytes == 0 {
		o.BucketBytes = bucketBytesDefault
	}
	if o.RunsMax == 0 {
		o.RunsMax = runsMaxDefault
	}
	return o
}

// Validate returns all faults of the options, joined.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("sieve: no directory"))
	}
	if o.BucketBytes < bucketBytesMin {
		faults = append(faults, fmt.Errorf("sieve: bucket of %d bytes, at least %d are needed", o.BucketBytes, bucketBytesMin))
	}
	if o.BucketBytes > bucketBytesMax {
		faults = append(faults, fmt.Errorf("sieve: bucket of %d bytes, at most %d can be", o.BucketBytes, int64(bucketBytesMax)))
	}
	if o.RunsMax < 1 {
		faults = append(faults, fmt.Errorf("sieve: at most %d runs, at least 1 is needed", o.RunsMax))
	}
	return errors.Join(faults...)
}

// Sieve lets each fingerprint through once. See the package's page for who may call what when.
type Sieve struct {
	fsys  vfs.FS
	o     Options
	wake  chan struct{} // capacity 1
	ranks *byteRanks

	// cutMu is held by Cut, Sync, Release and Close, during I/O: they belong to one checkpointer, who waits for itself
	// only. It is taken before mu.
	cutMu    sync.Mutex
	cutFiles []*storeFile // of the last cut, for Sync

	// writeMu is held while payloads are written to a pending file, and for the moment in which a bucket is frozen. It is
	// taken after cutMu and before mu.
	writeMu sync.Mutex

	// flushing is set for the duration of a Flush, to catch a second caller. Written by Flush.
	flushing atomic.Bool

	// mu is held for a few instructions, and for the copying of a payload; never during I/O.
	mu         sync.Mutex
	filling    *bucket
	frozen     *bucket // being merged, or left over from a Flush that failed; else nil
	frozenSize int64
	spare      *bucket // when frozen is nil
	room       chan struct{}
	runs       []*run // largest and oldest first; the slice is replaced, never changed
	obsolete   []obsolete
	spareFiles []*storeFile // pending files that nothing needs, at most as many as there are buckets
	spillErr   error        // for the next Flush
	serial     uint64
	generation uint64
	failed     error // Sync has failed: what is on disk is no longer known
	closed     bool
	stats      Stats
}

// Stats counts what a Sieve has done since Open. Added = Duplicates + Known + Emitted + Pending whenever it is quiet.
type Stats struct {
	Added        uint64 // calls of Add, and what Open found pending
	Duplicates   uint64 // dropped since the same flush had them already
	Known        uint64 // dropped since the store had them
	Emitted      uint64 // payloads accepted by emit
	Pending      int    // fingerprints in both buckets
	PendingBytes int64  // memory in use by both buckets
	Flushes      uint64 // that did all they had to
	FlushErrors  uint64 // that did not
	Keys         uint64 // fingerprints in the store
	Runs         int    // files of the store
	StoreBytes   int64  // their length
	IndexBytes   int64  // memory of their sparse index
	BytesRead    int64  // from the store, by flushes
	BytesWritten int64  // to the store, by flushes
	Obsolete     int    // files kept only for an older cut
	Spilled      int64  // bytes of payloads and fingerprints written while they waited, by WaitRoom and cuts
	SpillErrors  uint64 // spills that failed; their errors came out of Flush
}

// Add puts one fingerprint with its payload into the filling bucket. It never blocks and never fails; it borrows
// payload. Safe for concurrent use, and during a Flush; not during a Cut.
func (s *Sieve) Add(fp xxh3.Uint128, payload []byte) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic("BUG: Add on a closed sieve")
	}
	b := s.filling
	b.add(keyOf(fp), payload)
	s.stats.Added++
	ripe := !b.told && b.ripe()
	b.told = b.told || ripe
	s.mu.Unlock()
	if ripe {
		s.signal()
	}
}

// signal wakes whoever listens to Wake, now or next time.
func (s *Sieve) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // one is waiting there already
	}
}

// Full reports whether the filling bucket has reached its bound.
func (s *Sieve) Full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filling.full()
}

// Wake is signalled when the filling bucket becomes nearly full, and at Open if one was saved so or half emitted. It has
// a capacity of one: a signal stays until it is taken. A Flush that fails does not signal again: its caller knows.
func (s *Sieve) Wake() <-chan struct{} { return s.wake }

// WaitRoom waits while the filling bucket is full and no Flush has put the other one in its place, which is how a slow
// disk slows the producers and memory stays bounded while an image is written. They call it before they begin a batch of
// Adds, holding nothing a Flush could need. When memory is short and a flush would not pay yet, the caller writes some
// of the waiting payloads to a file; if it cannot, the next Flush says why. It returns the error of ctx when that is done
// first, and ErrClosed after Close.
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

// makeRoom lets the waiting producers look again. mu is held.
func (s *Sieve) makeRoom() {
	close(s.room)
	s.room = make(chan struct{})
}

// Pending returns the number of fingerprints in both buckets.
func (s *Sieve) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending()
}

// pending needs mu.
func (s *Sieve) pending() int {
	n := s.filling.arrived
	if s.frozen != nil {
		n += int(s.frozen.left.Load())
	}
	return n
}

// Len returns the number of fingerprints in the store.
func (s *Sieve) Len() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.len()
}

// len needs mu.
func (s *Sieve) len() uint64 {
	var n uint64
	for _, r := range s.runs {
		n += r.count
	}
	return n
}

// Stats returns the counters and sizes of this moment.
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

// Contains reports whether the store has fp, whatever is pending. It reads one block per run; it is for checks and
// tests, and must not run during a Flush.
func (s *Sieve) Contains(fp xxh3.Uint128) (bool, error) {
	ask, hit := []entry{newEntry(keyOf(fp), 0)}, []uint8{0}
	for _, r := range s.snapshot() {
		if err := newLookup(r, 1, s.ranks).ask(ask, hit); err != nil || hit[0] == 1 {
			return err == nil, err
		}
	}
	return false, nil
}

// snapshot returns the runs of this moment.
func (s *Sieve) snapshot() []*run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs
}

// usable returns why the sieve can do nothing any more, or nil.
func (s *Sieve) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return s.failed
}

// Close closes the files and lets waiting producers go. What was not cut is forgotten; the caller cuts and syncs
// first if it is to stay. No Flush and no Add may be under way. A second Close does nothing.
func (s *Sieve) Close() error {
	s.cutMu.Lock()
	defer s.cutMu.Unlock()
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.makeRoom()
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
		for _, f := range []*storeFile{b.file, b.mask} {
			if f != nil {
				files = append(files, f)
			}
		}
	}
	return files
}

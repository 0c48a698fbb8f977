package sieve

import (
	"errors"
	"sync"
)

// buckets are the two buckets of a sieve, with the lock that producers share with a flush.
type buckets struct {
	wake signal

	// mu is held for a few instructions and the copying of a payload, never during I/O.
	mu         sync.Mutex
	filling    *bucket
	frozen     *bucket // being flushed, or left by a failed Flush; else nil
	frozenSize int64
	spare      *bucket // nil if frozen is not nil
	room       broadcast
	added      uint64 // calls of add, and what load found pending
	failed     error  // the error of a failed Sync; the state on disk is then unknown
	closed     bool
}

// load restores the buckets of a checkpoint.
func (bs *buckets) load(files *fileSet, cut *Checkpoint) error {
	if cut.Frozen != nil {
		bs.frozen, bs.spare = bs.spare, nil // so that Close closes the files after an error
		if err := bs.frozen.loadFrozen(files, cut); err != nil {
			return err
		}
		bs.frozenSize = bs.frozen.size()
	}
	if c := cut.Filling; c != nil {
		if err := bs.filling.load(files, *c, cut.Generation, nil); err != nil {
			return err
		}
	}
	bs.added = uint64(bs.pending())
	if bs.frozen != nil || bs.filling.flushDue() {
		bs.wake.send()
	}
	return nil
}

// add puts a fingerprint with its payload into the filling bucket.
func (bs *buckets) add(k key, payload []byte) {
	bs.mu.Lock()
	if bs.closed {
		bs.mu.Unlock()
		panic("BUG: Add on a closed sieve")
	}
	b := bs.filling
	b.add(k, payload)
	bs.added++
	ripe := !b.wakeSent && b.flushDue()
	b.wakeSent = b.wakeSent || ripe
	bs.mu.Unlock()
	if ripe {
		bs.wake.send()
	}
}

// find returns where a key is: Pending, Merging if a bucket is frozen, or Unknown. It reads one drawer.
func (bs *buckets) find(k key) Place {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	switch {
	case bs.filling.entries.has(k):
		return Pending
	case bs.frozen != nil:
		return Merging
	default:
		return Unknown
	}
}

// full reports whether the filling bucket has reached its bound.
func (bs *buckets) full() bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	return bs.filling.full()
}

// pending returns the number of fingerprints in both buckets. mu is held.
func (bs *buckets) pending() int {
	n := bs.filling.payloads.arrivals
	if bs.frozen != nil {
		n += int(bs.frozen.live.unemitted.Load())
	}
	return n
}

// fill sets the numbers of the buckets in st.
func (bs *buckets) fill(st *Stats) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	st.Added = bs.added
	st.Pending = bs.pending()
	st.PendingBytes = bs.filling.size() + bs.frozenSize
}

// needFile reports whether a pending file will probably be needed soon.
func (bs *buckets) needFile() bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	return bs.pending() > 0 && bs.filling.ahead
}

// left returns the bucket that a failed flush has left, or nil.
func (bs *buckets) left() *bucket {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	return bs.frozen
}

// freeze exchanges the filling bucket and the spare one, and returns the one that is now frozen. It returns nil if it
// has nothing to flush. mu is held.
func (bs *buckets) freeze() *bucket {
	if bs.filling.payloads.arrivals == 0 {
		return nil
	}
	bs.frozen, bs.filling, bs.spare = bs.filling, bs.spare, nil
	bs.frozen.live.unemitted.Store(int64(bs.frozen.payloads.arrivals))
	bs.frozenSize = bs.frozen.size()
	bs.room.send()
	return bs.frozen
}

// empty empties the frozen bucket and makes it the spare one.
func (bs *buckets) empty(b *bucket) {
	bs.mu.Lock()
	bs.frozen, bs.frozenSize = nil, 0
	bs.mu.Unlock()
	b.reset() // no other goroutine can see it now
	bs.mu.Lock()
	bs.spare = b
	bs.mu.Unlock()
}

// beginSnapshot marks the moment of a snapshot in the filling bucket.
func (bs *buckets) beginSnapshot() (frozen, filling *bucket, total int) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	bs.filling.markSnapshot()
	return bs.frozen, bs.filling, bs.filling.payloads.arrivals
}

// endSnapshot ends the snapshot of a bucket.
func (bs *buckets) endSnapshot(b *bucket) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	b.marked = false
	bs.room.send() // waiting producers may write payloads again
}

// files returns the files of both buckets.
func (bs *buckets) files() (files []*storeFile) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.frozen != nil {
		files = bs.frozen.appendFiles(files)
	}
	return bs.filling.appendFiles(files)
}

// check reads the payloads of both buckets and returns the faults.
func (bs *buckets) check() error {
	bs.mu.Lock()
	frozen, filling := bs.frozen, bs.filling
	bs.mu.Unlock()
	var faults []error
	if frozen != nil {
		faults = append(faults, frozen.check(frozen.live.unemitted.Load()))
	}
	return errors.Join(append(faults, filling.check(int64(filling.payloads.arrivals)))...)
}

// usable returns the error that stops the sieve, or nil.
func (bs *buckets) usable() error {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.closed {
		return ErrClosed
	}
	return bs.failed
}

// fail makes err the result of later calls.
func (bs *buckets) fail(err error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	bs.failed = err
}

// close wakes the waiting producers. It reports whether the buckets were open.
func (bs *buckets) close() bool {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.closed {
		return false
	}
	bs.closed = true
	bs.room.send()
	return true
}

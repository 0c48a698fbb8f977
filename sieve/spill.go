package sieve

import (
	"fmt"
	"sync"
)

// spillRatio: payloads are written ahead if the bucket, with its memory used up, has fewer than this many of them per
// block of the store. A flush examines nearly all blocks if it has some keys per block, so more keys make each cheaper.
// To write and read a payload costs about a sixteenth of examining a block.
const spillRatio = 16

// spiller writes payloads of the buckets to their pending files: before a flush, if memory is short, and for a
// snapshot.
type spiller struct {
	files   *fileSet
	store   *store
	buckets *buckets

	// mu is held while payloads are written to a pending file, and while a bucket is frozen. Locked before buckets.mu.
	mu sync.Mutex

	// buckets.mu guards the following fields.
	err      error  // of a spill; the next flush returns it
	written  int64  // bytes
	failures uint64 // failed spills
}

// due reports whether the filling bucket should write its oldest chunk. buckets.mu is held.
func (w *spiller) due() bool {
	b := w.buckets.filling
	if !b.memoryShort() || w.err != nil || w.buckets.failed != nil {
		return false
	}
	return b.ahead || b.entries.n < spillRatio*w.store.blocks()
}

// trySpill writes one chunk of the filling bucket, unless another goroutine is doing this. Waiting producers are woken
// afterwards. After an error the chunk stays in memory, and the next flush returns the error.
func (w *spiller) trySpill() (done bool) {
	if !w.mu.TryLock() {
		return false
	}
	done, err := w.spill()
	w.mu.Unlock()
	w.buckets.mu.Lock()
	w.buckets.room.send()
	w.buckets.mu.Unlock()
	if err != nil {
		w.buckets.wake.send()
	}
	return done
}

// spill requires mu.
func (w *spiller) spill() (done bool, err error) {
	w.buckets.mu.Lock()
	b := w.buckets.filling
	due := !w.buckets.closed && w.due()
	b.ahead = b.ahead || due
	w.buckets.mu.Unlock()
	if !due {
		return false, nil
	}
	if err := w.writeChunk(b); err != nil {
		w.buckets.mu.Lock()
		b.ahead = false
		w.err = err
		w.failures++
		w.buckets.mu.Unlock()
		return false, err
	}
	return true, nil
}

// takeError returns the error of a spill, once.
func (w *spiller) takeError() error {
	w.buckets.mu.Lock()
	defer w.buckets.mu.Unlock()
	err := w.err
	if w.err = nil; err != nil {
		return fmt.Errorf("sieve: write payloads before the flush: %w", err)
	}
	return nil
}

// freeze freezes the filling bucket. It returns nil if there is nothing to flush.
func (w *spiller) freeze() *bucket {
	w.mu.Lock() // the payloads of a frozen bucket must not be written ahead
	w.buckets.mu.Lock()
	defer w.buckets.mu.Unlock()
	defer w.mu.Unlock() // unlocked first, so that a producer that finds it locked waits for a later broadcast
	return w.buckets.freeze()
}

// save writes the first n payloads of a bucket, as far as they are not in its file yet.
func (w *spiller) save(b *bucket, n int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for b.payloads.written < n { // any holder of mu may advance it
		if err := w.writeChunk(b); err != nil {
			return err
		}
	}
	return nil
}

// writeChunk moves the oldest chunk of a bucket to its file. After an error there may be a torn frame at the end of the
// file; the next attempt overwrites it. mu is held, buckets.mu is not.
func (w *spiller) writeChunk(b *bucket) error {
	w.buckets.mu.Lock()
	c, f, at := b.payloads.chunks.chunks[0], b.payloads.file, b.payloads.fileBytes
	w.buckets.mu.Unlock()
	if f == nil {
		var err error
		if f, err = w.files.createPending(); err != nil {
			return err
		}
	}
	n, err := writeFrame(f, at, c)
	w.buckets.mu.Lock()
	defer w.buckets.mu.Unlock()
	b.payloads.file = f
	if err != nil {
		return err
	}
	w.written += n
	full := b.full()
	if b.moveFirst(at + n); full {
		w.buckets.room.send()
	}
	return nil
}

// fill sets the numbers of the spiller in st.
func (w *spiller) fill(st *Stats) {
	w.buckets.mu.Lock()
	defer w.buckets.mu.Unlock()
	st.Spilled, st.SpillErrors = w.written, w.failures
}

// close waits for a spill and closes the buckets. It reports whether they were open. Later nothing is written.
func (w *spiller) close() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buckets.close()
}

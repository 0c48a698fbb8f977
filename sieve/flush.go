package sieve

import (
	"fmt"
	"sync"
	"time"
)

// FlushStats describes one Flush.
type FlushStats struct {
	Fingerprints uint64 // fingerprints in the flushed buckets
	Duplicates   uint64 // of these, repeated in a bucket
	Known        uint64 // of these, already in the store
	Emitted      uint64 // payloads that emit accepted
	RunsMerged   int    // runs rewritten into the new one
	BlocksRead   uint64 // blocks of the store that were searched or merged
	BytesRead    int64
	BytesWritten int64
	Sort         time.Duration
	Lookup       time.Duration // time of the lookups in the store
	Merge        time.Duration // time of writing the new run
	Emit         time.Duration // time of the emit calls
}

// Flush freezes the filling bucket, and producers continue with the other one. It drops the fingerprints that were
// added before, puts the new ones into the store and passes their payloads to emit, in order of arrival. emit borrows
// the payload. Only one goroutine may call Flush, and not while a snapshot is open.
//
// After an error nothing is lost, and nothing is emitted twice. What emit accepted stays accepted. The payload that it
// refused and all later ones are emitted first by the next Flush. The same holds if the store could not be read or
// written. If payloads could not be written ahead, Flush returns this error before it does anything. Errors of emit are
// returned unchanged.
func (s *Sieve) Flush(emit func(payload []byte) error) (FlushStats, error) {
	if !s.flushing.CompareAndSwap(false, true) {
		panic("BUG: Flush during another Flush or while a snapshot is open")
	}
	defer s.flushing.Store(false)
	var st FlushStats
	err := s.flush(emit, &st)
	s.flushes.add(&st, err)
	return st, err
}

// flush flushes the bucket that an earlier Flush could not finish, which is older, and then the filling one.
func (s *Sieve) flush(emit func(payload []byte) error, st *FlushStats) error {
	if err := s.buckets.usable(); err != nil {
		return err
	}
	if err := s.spiller.takeError(); err != nil {
		return err
	}
	if left := s.buckets.left(); left != nil {
		if err := s.finish(left, emit, st); err != nil {
			return err
		}
	}
	if b := s.spiller.freeze(); b != nil {
		st.Fingerprints += uint64(b.live.unemitted.Load())
		return s.finish(b, emit, st)
	}
	return nil
}

// finish completes a frozen bucket from any stage.
func (s *Sieve) finish(b *bucket, emit func(payload []byte) error, st *FlushStats) error {
	if b.stage < stageStored {
		if err := s.store.add(b, st); err != nil {
			return err
		}
	}
	began := time.Now()
	n, err := b.emit(emit)
	st.Emitted += n
	st.Emit += time.Since(began)
	if err != nil {
		return err
	}
	if left := b.live.unemitted.Load(); left != 0 {
		panic(fmt.Sprintf("BUG: S2: %d payloads are unemitted after all were emitted", left))
	}
	s.files.drop(b.live.mask.file)
	s.files.dropPending(b.payloads.file, b.ahead)
	s.buckets.empty(b)
	return nil
}

// flushTotals adds up the flushes since Open.
type flushTotals struct {
	mu    sync.Mutex
	stats Stats // only the numbers of flushes
}

// add adds a flush that returned err.
func (t *flushTotals) add(st *FlushStats, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Duplicates += st.Duplicates
	t.stats.Known += st.Known
	t.stats.Emitted += st.Emitted
	t.stats.BytesRead += st.BytesRead
	t.stats.BytesWritten += st.BytesWritten
	if err == nil {
		t.stats.Flushes++
	} else {
		t.stats.FlushErrors++
	}
}

// load returns Stats with the numbers of the flushes.
func (t *flushTotals) load() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stats
}

package sieve

import (
	"fmt"
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
	s.mu.Lock()
	s.stats.Duplicates += st.Duplicates
	s.stats.Known += st.Known
	s.stats.Emitted += st.Emitted
	s.stats.BytesRead += st.BytesRead
	s.stats.BytesWritten += st.BytesWritten
	if err == nil {
		s.stats.Flushes++
	} else {
		s.stats.FlushErrors++
	}
	s.mu.Unlock()
	return st, err
}

func (s *Sieve) flush(emit func(payload []byte) error, st *FlushStats) error {
	// A bucket that an earlier Flush could not finish is older and goes first.
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.spillFault(); err != nil {
		return err
	}
	s.mu.Lock()
	left := s.frozen
	s.mu.Unlock()
	if left != nil {
		if err := s.finish(left, emit, st); err != nil {
			return err
		}
	}
	if b := s.swap(); b != nil {
		st.Fingerprints += uint64(b.live.unemitted.Load())
		return s.finish(b, emit, st)
	}
	return nil
}

// swap freezes the filling bucket and makes the spare one the filling bucket. It returns nil if there is nothing to
// flush.
func (s *Sieve) swap() *bucket {
	s.writeMu.Lock() // the payloads of a frozen bucket must not be written ahead
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.writeMu.Unlock() // unlocked before mu, so that a producer that finds it locked waits for a later signal
	if s.filling.payloads.arrivals == 0 {
		return nil
	}
	s.frozen, s.filling, s.spare = s.filling, s.spare, nil
	s.frozen.live.unemitted.Store(int64(s.frozen.payloads.arrivals))
	s.frozenSize = s.frozen.size()
	s.wakeWaiting()
	return s.frozen
}

// finish completes a frozen bucket from any stage.
func (s *Sieve) finish(b *bucket, emit func(payload []byte) error, st *FlushStats) error {
	if b.stage < stageStored {
		if err := s.storeBucket(b, st); err != nil {
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
	if b.live.unemitted.Load() != 0 {
		panic(fmt.Sprintf("BUG: S2: %d payloads are unemitted after all were emitted", b.live.unemitted.Load()))
	}
	s.drop(b.live.mask.file)
	s.dropPending(b)
	s.mu.Lock()
	s.frozen, s.frozenSize = nil, 0
	s.mu.Unlock()
	b.reset() // no other goroutine can see it now
	s.mu.Lock()
	s.spare = b
	s.mu.Unlock()
	return nil
}

// storeBucket drops known fingerprints and puts the rest into the store. It continues where an earlier attempt failed.
func (s *Sieve) storeBucket(b *bucket, st *FlushStats) error {
	runs := s.currentRuns()
	if err := b.decide(runs, s.ranks, st); err != nil {
		return err
	}
	if b.entries.n > 0 {
		began := time.Now()
		kept := tier(runs, uint64(b.entries.n), s.o.RunsMax)
		merged := runs[kept:]
		r, err := s.merge(&b.entries, merged, st)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.runs = append(runs[:kept:kept], r)
		s.mu.Unlock()
		for _, old := range merged {
			s.drop(old.file)
		}
		st.RunsMerged += len(merged)
		st.Merge += time.Since(began)
	}
	b.entries.empty()
	b.stage = stageStored
	return nil
}

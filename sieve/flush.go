package sieve

import (
	"fmt"
	"time"
)

// FlushStats says what one Flush did.
type FlushStats struct {
	Taken        uint64 // fingerprints taken from the buckets
	Duplicates   uint64 // of those, twice in a bucket
	Known        uint64 // of those, in the store already
	Emitted      uint64 // payloads emit accepted
	RunsMerged   int    // runs rewritten into the new one
	BlocksRead   uint64 // blocks of the store that had to be looked at
	BytesRead    int64
	BytesWritten int64
	Sort         time.Duration
	Mark         time.Duration // looking up in the store
	Merge        time.Duration // writing the new run
	Emit         time.Duration // the caller's part
}

// Flush takes the filling bucket away from the producers, who go on with the other one, drops what was added before,
// puts the new fingerprints into the store and gives their payloads to emit, in order of arrival. emit borrows.
// One caller at a time; not during a Cut.
//
// After an error nothing is lost and nothing comes twice: what emit accepted stays accepted, the payload it refused
// and those behind it wait in front of all others for the next Flush. So does everything if the store could not be
// read or written, or if payloads could not be written ahead, which this Flush then returns before it does anything else.
// Errors of emit are returned as they are.
func (s *Sieve) Flush(emit func(payload []byte) error) (FlushStats, error) {
	if !s.flushing.CompareAndSwap(false, true) {
		panic("BUG: two calls of Flush at a time, or one during a Cut")
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
	// What an earlier Flush could not finish came first and goes first.
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
		st.Taken += uint64(b.left.Load())
		return s.finish(b, emit, st)
	}
	return nil
}

// swap freezes the filling bucket and gives the producers the spare one. It returns nil if there is nothing to do.
func (s *Sieve) swap() *bucket {
	s.writeMu.Lock() // nobody writes a frozen bucket's payloads
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.writeMu.Unlock() // first, so that who finds it taken does not wait for room that was made before
	if s.filling.arrived == 0 {
		return nil
	}
	s.frozen, s.filling, s.spare = s.filling, s.spare, nil
	s.frozen.left.Store(int64(s.frozen.arrived))
	s.frozenSize = s.frozen.size()
	s.makeRoom()
	return s.frozen
}

// finish brings a frozen bucket from whatever stage it is in to its end.
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
	if b.left.Load() != 0 {
		panic(fmt.Sprintf("BUG: S2: %d payloads are left in a bucket that was emitted whole", b.left.Load()))
	}
	s.drop(b.mask)
	s.dropPending(b)
	s.mu.Lock()
	s.frozen, s.frozenSize = nil, 0
	s.mu.Unlock()
	b.reset() // nobody sees it now
	s.mu.Lock()
	s.spare = b
	s.mu.Unlock()
	return nil
}

// storeBucket drops what is known and puts the rest into the store. It takes up where an earlier try failed.
func (s *Sieve) storeBucket(b *bucket, st *FlushStats) error {
	runs := s.snapshot()
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

// decide goes through the drawers and leaves in each, sorted, the keys that are new: what is there twice is dropped,
// and what one of the runs has. A drawer is decided whole or stays as it was. While one is at hand it is in the
// processor's cache, and so are the blocks in which its keys may lie.
func (b *bucket) decide(runs []*run, ranks *byteRanks, st *FlushStats) error {
	if b.live == nil {
		b.live = allSet(b.arrived)
	}
	b.entries.deal()
	var t tray
	var lookups []*lookup
	for _, r := range runs {
		lookups = append(lookups, newLookup(r, b.entries.n, ranks))
	}
	defer func() {
		for _, l := range lookups {
			st.BlocksRead += l.w.blocks
			st.BytesRead += l.w.bytes
		}
	}()
	for b.decided < len(b.entries.all) {
		began := time.Now()
		t.lay(&b.entries.all[b.decided], b.entries.shift)
		twice := t.once()
		sorted := time.Now()
		known := 0
		for _, l := range lookups {
			if err := l.ask(t.entries, t.hits); err != nil {
				return err
			}
			known += t.sift() // S1: what a committed flush stored does not come again
		}
		b.settle(&t)
		st.Duplicates += uint64(twice)
		st.Known += uint64(known)
		st.Sort += sorted.Sub(began)
		st.Mark += time.Since(sorted)
	}
	return nil
}

package sieve

import "fmt"

// spillRatio: payloads are written before the flush if the bucket has not so many of them for each block of the store
// when its memory is used up. A flush looks at nearly all blocks once it has some keys for each, so more keys make it
// cheaper for each; to write and read a payload costs about a sixteenth of looking at a block.
const spillRatio = 16

// spillDue reports whether the filling bucket should write its oldest chunk. mu is held.
func (s *Sieve) spillDue() bool {
	b := s.filling
	if !b.crowded() || s.spillErr != nil || s.failed != nil {
		return false
	}
	if b.ahead {
		return true
	}
	blocks := 0
	for _, r := range s.runs {
		blocks += r.blocks()
	}
	return b.entries.n < spillRatio*blocks
}

// trySpill writes one chunk of the filling bucket, unless another goroutine is at it; who waits for room is told when
// that one is done. What could not be written stays in memory, and the error is for the next Flush.
func (s *Sieve) trySpill() (done bool) {
	if !s.writeMu.TryLock() {
		return false
	}
	done, err := s.spill()
	s.writeMu.Unlock()
	s.mu.Lock()
	s.makeRoom()
	s.mu.Unlock()
	if err != nil {
		s.signal()
	}
	return done
}

// spill needs writeMu.
func (s *Sieve) spill() (done bool, err error) {
	s.mu.Lock()
	b := s.filling
	due := !s.closed && s.spillDue()
	b.ahead = b.ahead || due
	s.mu.Unlock()
	if !due {
		return false, nil
	}
	if err := s.writeChunk(b); err != nil {
		s.mu.Lock()
		b.ahead = false
		s.spillErr = err
		s.stats.SpillErrors++
		s.mu.Unlock()
		return false, err
	}
	return true, nil
}

// spillFault returns the error of a spill, once.
func (s *Sieve) spillFault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.spillErr
	if s.spillErr = nil; err != nil {
		return fmt.Errorf("writing payloads ahead: %w", err)
	}
	return nil
}

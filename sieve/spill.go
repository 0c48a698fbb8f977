package sieve

import "fmt"

// spillRatio: payloads are written ahead if the bucket, with its memory used up, has fewer than this many of them per
// block of the store. A flush examines nearly all blocks if it has some keys per block, so more keys make each cheaper.
// To write and read a payload costs about a sixteenth of examining a block.
const spillRatio = 16

// spillDue reports whether the filling bucket should write its oldest chunk. mu is held.
func (s *Sieve) spillDue() bool {
	b := s.filling
	if !b.memoryShort() || s.spillErr != nil || s.failed != nil {
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

// trySpill writes one chunk of the filling bucket, unless another goroutine is doing this. Waiting producers are woken
// afterwards. After an error the chunk stays in memory, and the next Flush returns the error.
func (s *Sieve) trySpill() (done bool) {
	if !s.writeMu.TryLock() {
		return false
	}
	done, err := s.spill()
	s.writeMu.Unlock()
	s.mu.Lock()
	s.wakeWaiting()
	s.mu.Unlock()
	if err != nil {
		s.signalWake()
	}
	return done
}

// spill requires writeMu.
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
		return fmt.Errorf("sieve: write payloads before the flush: %w", err)
	}
	return nil
}

package sieve

import (
	"errors"
)

// Check reads the whole store and both buckets and returns all faults: damaged blocks, keys that do not ascend or are
// in two runs (S3), and wrong counts. It must not be called during a Flush or an Add.
func (s *Sieve) Check() error {
	var faults []error
	runs := s.currentRuns()
	for _, r := range runs {
		// Each run alone first, so that a fault in one run does not hide a fault in another.
		if err := drain(fromRun(r)); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) == 0 && len(runs) > 1 {
		if err := drain(mergeSources(fromRun(runs[len(runs)-1]), runs[:len(runs)-1])); err != nil {
			faults = append(faults, err)
		}
	}
	s.mu.Lock()
	buckets := []*bucket{s.frozen, s.filling}
	s.mu.Unlock()
	for i, b := range buckets {
		if b == nil {
			continue
		}
		want := int64(b.payloads.arrivals)
		if i == 0 {
			want = b.live.unemitted.Load()
		}
		if err := b.check(want); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// drain reads a source to its end.
func drain(src source) error {
	for {
		if k, err := src.next(); err != nil || k.len() == 0 {
			return err
		}
	}
}

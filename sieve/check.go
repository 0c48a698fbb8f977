package sieve

import (
	"errors"
	"fmt"
)

// Check reads the whole store and both buckets and returns every fault it finds: blocks that do not hold, keys that do
// not ascend or are in two runs (S3), counts that are not true. No Flush and no Add may be under way.
func (s *Sieve) Check() error {
	var faults []error
	var sources []*source
	for _, r := range s.snapshot() {
		// Once alone, so that a fault in one run does not hide another's.
		if err := drain(r); err != nil {
			faults = append(faults, err)
			continue
		}
		src, err := fromRun(r)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		sources = append(sources, src)
	}
	if len(faults) == 0 {
		if err := disjoint(sources); err != nil {
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
		want := int64(b.arrived)
		if i == 0 {
			want = b.left.Load()
		}
		if err := b.check(want); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// drain reads a run to its end.
func drain(r *run) error {
	src, err := fromRun(r)
	for err == nil && src.ok {
		err = src.advance()
	}
	return err
}

// disjoint reads the sources side by side.
func disjoint(sources []*source) error {
	for {
		least, second := leastTwo(sources)
		if second == nil {
			return nil // one is left: nothing to compare it with
		}
		if least.cur == second.cur {
			return second.w.r.corrupt(0, fmt.Sprintf("key %016x%02x is in another run too", least.cur.hi, least.cur.lo))
		}
		if err := least.advance(); err != nil {
			return err
		}
	}
}

// check reads the payloads, of which there are to be so many, and compares their number with the entries.
func (b *bucket) check(want int64) error {
	var payloads int64
	if err := b.each(func(int, []byte) error { payloads++; return nil }); err != nil {
		return err
	}
	if payloads != want {
		return fmt.Errorf("%w: a bucket has %d payloads and counts %d", ErrCorrupt, payloads, want)
	}
	if b.stage < stageStored && int64(len(b.entries)) != payloads {
		return fmt.Errorf("%w: a bucket has %d payloads for %d fingerprints", ErrCorrupt, payloads, len(b.entries))
	}
	return nil
}

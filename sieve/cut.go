package sieve

import (
	"errors"
	"fmt"
)

// FileCut names one file of a cut by its serial number and says how much of it counts.
type FileCut struct {
	Serial uint64 `json:"serial"`
	Count  uint64 `json:"count"` // keys of a run, payloads of a pending file
	Bytes  int64  `json:"bytes"`
}

// Cut is a state of the sieve that Open can go back to, small and fit for a manifest. It may be relied on after Sync.
type Cut struct {
	Generation uint64    `json:"generation"`
	Serial     uint64    `json:"serial"` // the next file's
	Runs       []FileCut `json:"runs,omitempty"`
	// Frozen is what a failed Flush left over; FrozenStored says that its fingerprints are in the store already and
	// only the payloads are still to emit.
	Frozen       *FileCut `json:"frozen,omitempty"`
	FrozenStored bool     `json:"frozen_stored,omitempty"`
	Filling      *FileCut `json:"filling,omitempty"`
}

// Cut saves what is pending to files, without syncing them, and names the state of this moment. The caller guarantees
// that no Flush and no Add is under way. It writes only what was added since the last cut; files that earlier cuts
// name stay until Release. An error leaves the sieve as it was, and the next Cut tries again.
//
// S5: what was added since the cut comes again after a crash, and is never lost.
func (s *Sieve) Cut() (Cut, error) {
	s.cutMu.Lock()
	defer s.cutMu.Unlock()
	if !s.flushing.CompareAndSwap(false, true) {
		panic("BUG: Cut during a Flush")
	}
	defer s.flushing.Store(false)
	if err := s.usable(); err != nil {
		return Cut{}, err
	}
	s.mu.Lock()
	frozen, filling := s.frozen, s.filling
	s.mu.Unlock()
	if frozen != nil {
		if err := s.saveFrozen(frozen); err != nil {
			return Cut{}, err
		}
	}
	if err := s.savePending(filling); err != nil {
		return Cut{}, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if len(filling.entries) != filling.savedEntries {
		panic("BUG: Add during a Cut")
	}
	s.generation++
	c := Cut{Generation: s.generation, Serial: s.serial}
	for _, r := range s.runs {
		c.Runs = append(c.Runs, FileCut{Serial: r.file.serial, Count: r.count, Bytes: r.bytes})
	}
	if frozen != nil {
		c.Frozen, c.FrozenStored = frozen.cut(), frozen.stage == stageStored
	}
	if !filling.empty() {
		c.Filling = filling.cut()
	}
	s.cutFiles = s.liveFiles()
	for _, f := range s.cutFiles {
		if f.firstCut == 0 {
			f.firstCut = s.generation
		}
	}
	return c, nil
}

func (b *bucket) cut() *FileCut {
	return &FileCut{Serial: b.file.serial, Count: uint64(b.left.Load()), Bytes: b.savedBytes}
}

// Sync makes everything the last Cut names durable. It may run beside Add and Flush. Once it has failed the sieve
// stays failed: what the system has lost of a file it does not tell twice.
func (s *Sieve) Sync() error {
	s.cutMu.Lock()
	defer s.cutMu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	for _, f := range s.cutFiles {
		if f.synced {
			continue
		}
		if err := f.Sync(); err != nil {
			return s.fail(err)
		}
		f.synced = true
	}
	if err := s.fsys.SyncDir(s.o.Dir); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *Sieve) fail(err error) error {
	err = fmt.Errorf("sieve: %w", err)
	s.mu.Lock()
	s.failed = err
	s.mu.Unlock()
	return err
}

// Release says that a manifest with c in it is durable: files that only older cuts name are removed. It may run
// beside Add and Flush. A file that cannot be removed is an error, and is tried again by the next Release.
func (s *Sieve) Release(c Cut) error {
	s.cutMu.Lock()
	defer s.cutMu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	s.mu.Lock()
	var gone, kept []obsolete
	for _, o := range s.obsolete {
		if o.lastCut < c.Generation {
			gone = append(gone, o)
		} else {
			kept = append(kept, o)
		}
	}
	s.obsolete = kept
	s.mu.Unlock()
	var faults []error
	for _, o := range gone {
		if err := discard(s.fsys, o.file); err != nil {
			faults = append(faults, fmt.Errorf("sieve: %w", err))
			s.mu.Lock()
			s.obsolete = append(s.obsolete, o)
			s.mu.Unlock()
		}
	}
	return errors.Join(faults...)
}

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

// Image is a moment of the sieve that Cut has marked. Its holder calls one of Write and Abandon, once.
type Image struct {
	s       *Sieve
	frozen  *bucket
	filling *bucket
	// entries are the filling bucket's that no earlier cut has saved, arena its payloads. Producers only append behind
	// both, or move on to new memory.
	entries []entry
	arena   arena
	total   int // entries of the filling bucket, saved ones included
	done    bool
}

// Cut marks this moment, without I/O, in a time that does not depend on how much is pending. What is added from here
// on belongs to a later cut. The caller guarantees that no Flush is under way nor begins until the image is written or
// abandoned; whoever cuts other rooms at the same moment keeps Add silent meanwhile.
func (s *Sieve) Cut() (*Image, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if !s.flushing.CompareAndSwap(false, true) {
		panic("BUG: Cut during a Flush, or before the last image was written or abandoned")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.filling
	return &Image{
		s: s, frozen: s.frozen, filling: b,
		entries: b.entries[b.savedEntries:], arena: b.snapshot(), total: len(b.entries),
	}, nil
}

// Abandon lets go of an image that will not be written: it is as if Cut had not been called. It does nothing after
// Write.
func (im *Image) Abandon() {
	if !im.done {
		im.done = true
		im.s.flushing.Store(false)
	}
}

// Write saves what was pending at the moment of Cut to files, without syncing them, and names that state. It runs
// beside Add. It writes only what earlier cuts have not; files that they name stay until Release. An error leaves the
// sieve as if Cut had not been called, and the next image has everything.
//
// S5: what was added since the cut comes again after a crash, and is never lost.
func (im *Image) Write() (Cut, error) {
	if im.done {
		panic("BUG: an image is written twice, or was abandoned")
	}
	defer im.Abandon()
	s := im.s
	s.cutMu.Lock()
	defer s.cutMu.Unlock()
	if err := s.usable(); err != nil {
		return Cut{}, err
	}
	if im.frozen != nil {
		if err := s.saveFrozen(im.frozen); err != nil {
			return Cut{}, err
		}
	}
	if err := s.savePending(im); err != nil {
		return Cut{}, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	c := Cut{Generation: s.generation, Serial: s.serial}
	for _, r := range s.runs {
		c.Runs = append(c.Runs, FileCut{Serial: r.file.serial, Count: r.count, Bytes: r.bytes})
	}
	if b := im.frozen; b != nil {
		c.Frozen, c.FrozenStored = b.cut(b.left.Load()), b.stage == stageStored
	}
	if im.total > 0 {
		c.Filling = im.filling.cut(int64(im.total))
	}
	s.cutFiles = s.liveFiles()
	for _, f := range s.cutFiles {
		if f.firstCut == 0 {
			f.firstCut = s.generation
		}
	}
	return c, nil
}

func (b *bucket) cut(count int64) *FileCut {
	return &FileCut{Serial: b.file.serial, Count: uint64(count), Bytes: b.savedBytes}
}

// Sync makes everything the last written Cut names durable. It may run beside Add and Flush. Once it has failed the sieve
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

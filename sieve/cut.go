package sieve

import (
	"errors"
	"fmt"
)

// FileCut names one file of a cut by its serial number and says how much of it counts.
type FileCut struct {
	Serial uint64 `json:"serial"`
	Count  uint64 `json:"count"` // keys of a run, payloads of a pending file, those a mask has
	Bytes  int64  `json:"bytes"`
}

// Cut is a state of the sieve that Open can go back to, small and fit for a manifest. It may be relied on after Sync.
type Cut struct {
	Generation uint64    `json:"generation"`
	Serial     uint64    `json:"serial"` // the next file's
	Runs       []FileCut `json:"runs,omitempty"`
	// Frozen is what a failed Flush left over; FrozenMask, if it has begun to decide, names the payloads that are still to be
	// emitted; FrozenStored says that their fingerprints are in the store already.
	Frozen       *FileCut `json:"frozen,omitempty"`
	FrozenMask   *FileCut `json:"frozen_mask,omitempty"`
	FrozenStored bool     `json:"frozen_stored,omitempty"`
	Filling      *FileCut `json:"filling,omitempty"`
}

// Image is a moment of the sieve that Cut has marked. Its holder calls one of Write and Abandon, once.
type Image struct {
	s       *Sieve
	frozen  *bucket
	filling *bucket
	total   int // payloads of the filling bucket
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
	b.mark()
	return &Image{s: s, frozen: s.frozen, filling: b, total: b.arrived}, nil
}

// Abandon lets go of an image that will not be written: it is as if Cut had not been called. It does nothing after
// Write.
func (im *Image) Abandon() {
	if !im.done {
		im.done = true
		im.s.mu.Lock()
		im.filling.marked = false
		im.s.makeRoom() // whoever waits may write payloads again
		im.s.mu.Unlock()
		im.s.flushing.Store(false)
	}
}

// Write saves what was pending at the moment of Cut to files, without syncing them, and names that state. It runs
// beside Add. It writes only what is not in a file yet; files that earlier cuts name stay until Release. An error leaves
// the sieve as if Cut had not been called, and the next image has everything.
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
	if err := im.save(); err != nil {
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
		c.Frozen, c.FrozenStored = b.cut(), b.stage == stageStored
		if b.mask != nil {
			c.FrozenMask = &FileCut{Serial: b.mask.serial, Count: uint64(b.maskLeft), Bytes: b.maskBytes}
		}
	}
	if im.total > 0 {
		c.Filling = im.filling.cut()
	}
	s.cutFiles = s.liveFiles()
	for _, f := range s.cutFiles {
		if f.firstCut == 0 {
			f.firstCut = s.generation
		}
	}
	return c, nil
}

// save writes what the image has and no file.
func (im *Image) save() error {
	s := im.s
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if b := im.frozen; b != nil {
		if err := s.saveFrozen(b); err != nil {
			return err
		}
	}
	for b := im.filling; b.written < im.total; { // written by whoever holds writeMu
		if err := s.writeChunk(b); err != nil {
			return err
		}
	}
	return nil
}

// saveFrozen writes the payloads of a frozen bucket that no file has, and which of all are still to be emitted. Only a
// Flush that failed leaves such a bucket.
func (s *Sieve) saveFrozen(b *bucket) error {
	for len(b.chunks) > 0 {
		if err := s.writeChunk(b); err != nil {
			return err
		}
	}
	return s.saveMask(b)
}

// cut names the bucket's file as it is now.
func (b *bucket) cut() *FileCut {
	if b.file.cutBytes != b.fileBytes {
		b.file.cutBytes, b.file.synced = b.fileBytes, false
	}
	return &FileCut{Serial: b.file.serial, Count: uint64(b.written), Bytes: b.fileBytes}
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

// Release says that a manifest with c in it is durable: files that only older cuts name are removed, but for one or two
// that will soon be written over. It may run beside Add and Flush. A file that cannot be removed is an error, and is tried
// again by the next Release.
func (s *Sieve) Release(c Cut) error {
	s.cutMu.Lock()
	defer s.cutMu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	s.mu.Lock()
	var gone, kept []obsolete
	idle := s.pending() == 0 || !s.filling.ahead
	for _, o := range s.obsolete {
		switch {
		case o.lastCut >= c.Generation:
			kept = append(kept, o)
		case o.file.kind == kindPending && !idle && o.lastCut > 0 && len(s.spareFiles) < sparesMax:
			o.file.firstCut, o.file.cutBytes = 0, 0
			s.spareFiles = append(s.spareFiles, o.file)
		default:
			gone = append(gone, o)
		}
	}
	if idle {
		for _, f := range s.spareFiles {
			gone = append(gone, obsolete{file: f})
		}
		s.spareFiles = nil
	}
	s.obsolete = kept
	s.mu.Unlock()
	var faults []error
	for _, o := range gone {
		if err := discard(s.fsys, o.file); err != nil {
			faults = append(faults, fmt.Errorf("sieve: %w", err))
			o.lastCut = 0 // it may be closed by now
			s.mu.Lock()
			s.obsolete = append(s.obsolete, o)
			s.mu.Unlock()
		}
	}
	return errors.Join(faults...)
}

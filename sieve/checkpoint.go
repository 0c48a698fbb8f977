package sieve

import (
	"errors"
	"fmt"
)

// FileCheckpoint names a file of a checkpoint by its serial number and says how much of it is valid.
type FileCheckpoint struct {
	Serial uint64 `json:"serial"`
	Count  uint64 `json:"count"` // keys of a run, payloads of a pending file, or bits of a mask
	Bytes  int64  `json:"bytes"`
}

// Checkpoint is a state of the sieve that Open can restore, small enough for a manifest. It is durable after Sync.
type Checkpoint struct {
	Generation uint64           `json:"generation"`
	Serial     uint64           `json:"serial"` // of the next file
	Runs       []FileCheckpoint `json:"runs,omitempty"`
	// Frozen is the bucket that a failed Flush left. FrozenMask names the payloads that must still be emitted, if the
	// Flush had begun to decide. FrozenStored means that the fingerprints are already in the store.
	Frozen       *FileCheckpoint `json:"frozen,omitempty"`
	FrozenMask   *FileCheckpoint `json:"frozen_mask,omitempty"`
	FrozenStored bool            `json:"frozen_stored,omitempty"`
	Filling      *FileCheckpoint `json:"filling,omitempty"`
}

// Snapshot is a moment of the sieve that Sieve.Snapshot has marked. The caller must call either Write or Abandon, once.
type Snapshot struct {
	s       *Sieve
	frozen  *bucket
	filling *bucket
	total   int // payloads of the filling bucket
	done    bool
}

// Snapshot marks this moment. It does no I/O, and its time does not depend on the number of pending URLs. Later Adds
// belong to a later snapshot. The caller must make sure that no Flush runs until the snapshot is written or abandoned.
// If other components take a snapshot at the same moment, the caller must also block Add meanwhile.
func (s *Sieve) Snapshot() (*Snapshot, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if !s.flushing.CompareAndSwap(false, true) {
		panic("BUG: Snapshot during a Flush, or while another snapshot is open")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.filling
	b.mark()
	return &Snapshot{s: s, frozen: s.frozen, filling: b, total: b.payloads.arrivals}, nil
}

// Abandon ends a snapshot without writing it, as if Snapshot had not been called. It does nothing after Write.
func (im *Snapshot) Abandon() {
	if !im.done {
		im.done = true
		im.s.mu.Lock()
		im.filling.marked = false
		im.s.wakeWaiting() // waiting producers may write payloads again
		im.s.mu.Unlock()
		im.s.flushing.Store(false)
	}
}

// Write saves what was pending at the snapshot to files, without syncing them, and returns the checkpoint. Add may run
// at the same time. Write saves only what is not yet in a file. Files of earlier checkpoints stay until Release. After
// an error the sieve is as if Snapshot had not been called, and the next snapshot contains everything.
//
// S5: after a crash, what was added since the checkpoint is added again, so it is never lost.
func (im *Snapshot) Write() (Checkpoint, error) {
	if im.done {
		panic("BUG: snapshot was already written or abandoned")
	}
	defer im.Abandon()
	s := im.s
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	if err := s.usable(); err != nil {
		return Checkpoint{}, err
	}
	if err := im.save(); err != nil {
		return Checkpoint{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	c := Checkpoint{Generation: s.generation, Serial: s.serial}
	for _, r := range s.runs {
		c.Runs = append(c.Runs, FileCheckpoint{Serial: r.file.serial, Count: r.count, Bytes: r.bytes})
	}
	if b := im.frozen; b != nil {
		c.Frozen, c.FrozenStored = b.payloads.checkpointFile(), b.stage == stageStored
		if m := b.live.mask; m.file != nil {
			c.FrozenMask = &FileCheckpoint{Serial: m.file.serial, Count: uint64(m.unemitted), Bytes: m.bytes}
		}
	}
	if im.total > 0 {
		c.Filling = im.filling.payloads.checkpointFile()
	}
	s.checkpointFiles = s.liveFiles()
	for _, f := range s.checkpointFiles {
		if f.firstCheckpoint == 0 {
			f.firstCheckpoint = s.generation
		}
	}
	return c, nil
}

// save writes the parts of the snapshot that are not yet in a file.
func (im *Snapshot) save() error {
	s := im.s
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	if b := im.frozen; b != nil {
		if err := s.saveFrozen(b); err != nil {
			return err
		}
	}
	for b := im.filling; b.payloads.written < im.total; { // any holder of writeMu may advance it
		if err := s.writeChunk(b); err != nil {
			return err
		}
	}
	return nil
}

// saveFrozen writes the payloads of a frozen bucket that are not yet in a file, and the mask of those that must still
// be emitted. Only a failed Flush leaves such a bucket.
func (s *Sieve) saveFrozen(b *bucket) error {
	for len(b.payloads.chunks.chunks) > 0 {
		if err := s.writeChunk(b); err != nil {
			return err
		}
	}
	return s.saveMask(b)
}

// Sync makes the last written checkpoint durable. It may run at the same time as Add and Flush. After an error the
// sieve stays failed, because the system reports lost data of a file only once.
func (s *Sieve) Sync() error {
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	for _, f := range s.checkpointFiles {
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

// Release must be called when a manifest with c is durable. It removes files that only older checkpoints need, except
// for a few that will soon be overwritten. It may run at the same time as Add and Flush. If a file cannot be removed,
// it returns an error, and the next Release tries again.
func (s *Sieve) Release(c Checkpoint) error {
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	s.mu.Lock()
	var gone, kept []obsolete
	idle := s.pending() == 0 || !s.filling.ahead
	for _, o := range s.obsolete {
		switch {
		case o.lastCheckpoint >= c.Generation:
			kept = append(kept, o)
		case o.file.kind == kindPending && !idle && o.lastCheckpoint > 0 && len(s.spareFiles) < sparesMax:
			o.file.firstCheckpoint, o.file.checkpointBytes = 0, 0
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
			o.lastCheckpoint = 0 // it may already be closed
			s.mu.Lock()
			s.obsolete = append(s.obsolete, o)
			s.mu.Unlock()
		}
	}
	return errors.Join(faults...)
}

package sieve

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
	if err := s.buckets.usable(); err != nil {
		return nil, err
	}
	if !s.flushing.CompareAndSwap(false, true) {
		panic("BUG: Snapshot during a Flush, or while another snapshot is open")
	}
	im := &Snapshot{s: s}
	im.frozen, im.filling, im.total = s.buckets.beginSnapshot()
	return im, nil
}

// Abandon ends a snapshot without writing it, as if Snapshot had not been called. It does nothing after Write.
func (im *Snapshot) Abandon() {
	if !im.done {
		im.done = true
		im.s.buckets.endSnapshot(im.filling)
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
	if err := s.buckets.usable(); err != nil {
		return Checkpoint{}, err
	}
	if err := im.save(); err != nil {
		return Checkpoint{}, err
	}
	// Until Abandon no flush runs, and the payloads of the marked bucket are not written ahead. So runs and files stay.
	var c Checkpoint
	_, c.Runs = s.store.checkpoint()
	if b := im.frozen; b != nil {
		c.Frozen, c.FrozenStored = b.payloads.checkpointFile(), b.stage == stageStored
		if m := b.live.mask; m.file != nil {
			c.FrozenMask = &FileCheckpoint{Serial: m.file.serial, Count: uint64(m.unemitted), Bytes: m.bytes}
		}
	}
	if im.total > 0 {
		c.Filling = im.filling.payloads.checkpointFile()
	}
	c.Generation, c.Serial = s.files.checkpoint(s.liveFiles())
	return c, nil
}

// save writes the parts of the snapshot that are not yet in a file. A frozen bucket is there only after a failed Flush.
func (im *Snapshot) save() error {
	s := im.s
	if b := im.frozen; b != nil {
		if err := s.spiller.save(b, b.payloads.arrivals); err != nil {
			return err
		}
		if err := b.live.save(&s.files, b.payloads.arrivals); err != nil {
			return err
		}
	}
	return s.spiller.save(im.filling, im.total)
}

// Sync makes the last written checkpoint durable. It may run at the same time as Add and Flush. After an error the
// sieve stays failed, because the system reports lost data of a file only once.
func (s *Sieve) Sync() error {
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	if err := s.buckets.usable(); err != nil {
		return err
	}
	if err := s.files.sync(); err != nil {
		s.buckets.fail(err)
		return err
	}
	return nil
}

// Release must be called when a manifest with c is durable. It removes files that only older checkpoints need, except
// for a few that will soon be overwritten. It may run at the same time as Add and Flush. If a file cannot be removed,
// it returns an error, and the next Release tries again.
func (s *Sieve) Release(c Checkpoint) error {
	s.checkpointMu.Lock()
	defer s.checkpointMu.Unlock()
	if err := s.buckets.usable(); err != nil {
		return err
	}
	return s.files.release(c.Generation, s.buckets.needFile())
}

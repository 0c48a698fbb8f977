package virtualize

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Checkpoint names an index file and the length up to which it is valid. The index names everything else. It belongs
// into the manifest.
type Checkpoint struct {
	Generation uint64 `json:"generation"`
	Base       uint64 `json:"base"`     // generation of the first snapshot in the index file, and part of its name
	Length     uint64 `json:"length"`   // of the index file in bytes, including the section of this checkpoint
	Checksum   uint64 `json:"checksum"` // of the section of this checkpoint, which contains the checksum of the one before
	Queues     uint64 `json:"queues"`
	Items      uint64 `json:"items"`
}

// ErrSnapshotOpen is returned if another snapshot is not yet written or abandoned.
var ErrSnapshotOpen = errors.New("virtualize: another cut is being written")

// Snapshot is the state of the queues at one moment. Taking it needs the same short time for any content. It is written
// while the queues are in use. Before a queue changes that is not written yet, touch copies its state.
type Snapshot struct {
	v           *Virtualizer
	generation  uint64
	base        bool    // contains all queues, in a new file
	head        []byte  // first bytes of the section: everything before moves, deleted queues and queues
	changes     changes // the changed queues; those with numbers below next are written
	next        uint32  // the next entry to examine
	entryCount  uint32  // number of entries at the snapshot
	nextMove    int     // the next change, or table, of the relocations to copy
	moved       bool    // the relocations are copied
	copiedEarly []byte  // records of queues that changed before they were written
	queues      uint64
	items       uint64
	copied      bool // everything is copied
	done        bool
}

// Snapshot takes a snapshot. The caller must then call Write or Abandon. It takes microseconds, and a little more for
// each thousand segments and each million queues. It returns ErrSnapshotOpen if another one is open.
func (v *Virtualizer) Snapshot() (*Snapshot, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.writable(); err != nil {
		return nil, err
	}
	if v.image != nil {
		return nil, ErrSnapshotOpen
	}
	v.generation++ // no generation is used twice
	im := &Snapshot{
		v: v, generation: v.generation, base: v.file.wantsBase(), changes: v.changes, entryCount: v.idx.made,
		queues: uint64(v.idx.count), items: v.total,
	}
	im.head = v.appendHead(nil, im)
	if len(v.spare) < len(v.changes.queues) {
		v.spare = make(set, len(v.changes.queues))
	}
	v.changes, v.spare = changes{queues: v.spare}, nil
	if im.base {
		im.changes.queues.addBelow(im.entryCount)
	}
	for _, s := range v.segments {
		if s == nil {
			continue
		}
		if s.live > 0 {
			s.named = v.generation
		}
		if s.dirty {
			v.pending.segments[s] = struct{}{}
			s.dirty = false
		}
	}
	v.image = im
	return im, nil
}

// mustWrite reports whether a queue must be written in its current state.
func (im *Snapshot) mustWrite(id uint32) bool {
	return !im.copied && id >= im.next && im.changes.queues.has(id)
}

// Abandon ends the snapshot without writing it; the next one contains its changes. It does nothing after Write.
func (im *Snapshot) Abandon() {
	v := im.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if im.done {
		return
	}
	im.done, im.copiedEarly = true, nil
	if !v.closed {
		v.changes.adopt(im.changes)
		v.image = nil
	}
}

// succeed makes the completely written snapshot the last checkpoint.
func (im *Snapshot) succeed(length, sum uint64) Checkpoint {
	v := im.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if im.base {
		if v.file.base != 0 {
			v.old = append(v.old, v.file.base)
		}
		v.file = indexFile{base: im.generation, baseLength: length}
	}
	v.file.length, v.file.sum = length, sum
	v.written = im.generation
	v.pending.index = indexName(v.opts.Dir, v.file.base)
	clear(im.changes.queues)
	v.spare, v.image = im.changes.queues, nil
	im.done, im.copiedEarly = true, nil
	return Checkpoint{
		Generation: im.generation, Base: v.file.base, Length: length, Checksum: sum, Queues: im.queues, Items: im.items,
	}
}

// Release must be called when the manifest with c is durable. It deletes what only older checkpoints need.
func (v *Virtualizer) Release(c Checkpoint) error {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return ErrClosed
	}
	if c.Generation > v.written {
		defer v.mu.Unlock()
		return fmt.Errorf("virtualize: release of generation %d, and the last one is %d", c.Generation, v.written)
	}
	v.released = max(v.released, c.Generation)
	var gone []uint64
	for len(v.old) > 0 && v.old[0] < c.Base {
		gone, v.old = append(gone, v.old[0]), v.old[1:]
	}
	v.mu.Unlock()
	var errs []error
	for _, base := range gone {
		if err := vfs.RemoveIfExists(v.fsys, indexName(v.opts.Dir, base)); err != nil {
			errs = append(errs, fmt.Errorf("virtualize: release: %w", err)) // The next Open removes it.
		}
	}
	// V3: only segments without live records that no checkpoint from released on names
	return errors.Join(append(errs, v.deleteDead())...)
}

// Close unmaps and closes the files. Changes since the last written snapshot are lost. It waits for a running Write or
// Sync.
func (v *Virtualizer) Close() error {
	v.syncing.Lock()
	defer v.syncing.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return ErrClosed
	}
	v.closed = true
	var errs []error
	for _, s := range v.segments {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	v.idx, v.buf, v.segments, v.active, v.victim, v.image = newIndex(0), buffer{}, nil, nil, nil, nil
	v.pending = work{segments: map[*segment]struct{}{}}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("virtualize: close: %w", err)
	}
	return nil
}

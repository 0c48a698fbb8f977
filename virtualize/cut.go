package virtualize

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Cut names an index file and how much of it counts, which name all else. It goes into the manifest.
type Cut struct {
	Generation uint64 `json:"generation"`
	Base       uint64 `json:"base"`     // names the index file, which begins with the cut of this generation
	Length     uint64 `json:"length"`   // of the index file, in bytes, up to the end of this cut's section
	Checksum   uint64 `json:"checksum"` // of this cut's section, and so of those before
	Queues     uint64 `json:"queues"`
	Items      uint64 `json:"items"`
}

// ErrCutting says that an image is already being written.
var ErrCutting = errors.New("virtualize: another cut is being written")

// Image is what the queues were at one moment. Making it is quick whatever they hold; it is written while they are used:
// whatever is about to change a queue that has to be written and was not yet, first puts its state aside.
type Image struct {
	v          *Virtualizer
	generation uint64
	base       bool    // of all queues, into a new file
	head       []byte  // the section's first bytes: all but moves, deleted queues and queues
	changes    changes // of the queues: those to write, if their number is not below next
	next       uint32  // the next entry to look at
	made       uint32  // entries that there were
	nextMove   int     // the next change, or table, of moved blocks to copy
	moved      bool    // these were copied
	aside      []byte  // records of queues that changed too early
	queues     uint64
	items      uint64
	copied     bool // all of it
	done       bool
}

// Cut marks the moment of a cut; Write or Abandon must follow. It takes microseconds, and some more for each thousand
// segments and each million queues. ErrCutting if another one is under way.
func (v *Virtualizer) Cut() (*Image, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.writable(); err != nil {
		return nil, err
	}
	if v.image != nil {
		return nil, ErrCutting
	}
	v.generation++ // never used twice
	im := &Image{
		v: v, generation: v.generation, base: v.file.wantsBase(), changes: v.changes, made: v.idx.made,
		queues: uint64(v.idx.count), items: v.total,
	}
	im.head = v.appendHead(nil, im)
	if len(v.spare) < len(v.changes.queues) {
		v.spare = make(set, len(v.changes.queues))
	}
	v.changes, v.spare = changes{queues: v.spare}, nil
	if im.base {
		im.changes.queues.addBelow(im.made)
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

// owes says that a queue must be written as it is now.
func (im *Image) owes(id uint32) bool {
	return !im.copied && id >= im.next && im.changes.queues.has(id)
}

// Abandon gives the image up; the next one has what it had. It does nothing after Write.
func (im *Image) Abandon() {
	v := im.v
	v.mu.Lock()
	defer v.mu.Unlock()
	if im.done {
		return
	}
	im.done, im.aside = true, nil
	if !v.closed {
		v.changes.adopt(im.changes)
		v.image = nil
	}
}

// succeed makes the image, which was written, the last cut.
func (im *Image) succeed(length, sum uint64) Cut {
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
	im.done, im.aside = true, nil
	return Cut{
		Generation: im.generation, Base: v.file.base, Length: length, Checksum: sum, Queues: im.queues, Items: im.items,
	}
}

// Release says that the manifest that names c is durable: what only older cuts need is deleted.
func (v *Virtualizer) Release(c Cut) error {
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
	return errors.Join(append(errs, v.deleteDead())...) // V3: only what holds no live record, and is named by no cut from released on
}

// Close unmaps and closes the files. What no Image wrote is forgotten, as a rollback to the last cut would forget it. It
// waits for a Write or a Sync that is under way.
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

package virtualize

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Cut names a generation file, which names all else. It goes into the manifest.
type Cut struct {
	Generation uint64 `json:"generation"`
	Length     uint64 `json:"length"`   // of the generation file, in bytes
	Checksum   uint64 `json:"checksum"` // of the generation file
	Queues     uint64 `json:"queues"`
	Items      uint64 `json:"items"`
}

// Cut writes what is still in memory, and the index into a new generation file, without syncing anything. After an
// error nothing has changed, and if vfs.IsFull says so of it the call may be repeated when there is room.
func (v *Virtualizer) Cut() (Cut, error) {
	if err := v.writable(); err != nil {
		return Cut{}, err
	}
	if err := v.flush(); err != nil {
		return Cut{}, err
	}
	generation := v.generation + 1
	length, sum, err := v.writeIndex(generation)
	if err != nil {
		if vfs.IsFull(err) {
			v.count.fullFailures.Add(1)
		}
		return Cut{}, err
	}
	v.generation = generation
	if v.oldest == 0 {
		v.oldest = generation
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pending.index = indexName(v.opts.Dir, generation)
	for _, s := range v.segments {
		if s == nil {
			continue
		}
		if s.live > 0 {
			s.named = generation
		}
		if s.dirty {
			v.pending.segments[s] = struct{}{}
			s.dirty = false
		}
	}
	return Cut{
		Generation: generation, Length: length, Checksum: sum, Queues: uint64(v.idx.count), Items: v.total,
	}, nil
}

// Sync makes everything up to the last Cut durable. Any goroutine may call it, while the owner goes on. After it has
// failed nothing can be written any more: what the disk holds is unknown, and the way on is Open with the last durable
// cut.
func (v *Virtualizer) Sync() error {
	v.syncing.Lock()
	defer v.syncing.Unlock()
	if f := v.failed.Load(); f != nil {
		return f
	}
	v.mu.Lock()
	todo := v.pending
	v.pending = work{segments: map[*segment]struct{}{}}
	for s := range todo.segments {
		s.syncing++
	}
	v.mu.Unlock()
	var errs []error
	for s := range todo.segments {
		errs = append(errs, s.mapped.Sync())
	}
	if todo.index != "" {
		errs = append(errs, syncFile(v.fsys, todo.index), v.fsys.SyncDir(v.opts.Dir))
	}
	v.mu.Lock()
	for s := range todo.segments {
		s.syncing--
	}
	v.mu.Unlock()
	if err := errors.Join(errs...); err != nil {
		f := &failure{fmt.Errorf("virtualize: sync: %w", err)}
		v.failed.Store(f)
		return f
	}
	return nil
}

func syncFile(fsys vfs.FS, name string) error {
	file, err := fsys.OpenRW(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Release says that the manifest that names c is durable: what only older cuts need is deleted.
func (v *Virtualizer) Release(c Cut) error {
	if v.closed {
		return ErrClosed
	}
	if c.Generation > v.generation {
		return fmt.Errorf("virtualize: release of generation %d, and there are %d", c.Generation, v.generation)
	}
	v.released = max(v.released, c.Generation)
	for v.oldest < v.released {
		if err := vfs.RemoveIfExists(v.fsys, indexName(v.opts.Dir, v.oldest)); err != nil {
			return fmt.Errorf("virtualize: release: %w", err)
		}
		v.oldest++
	}
	defer v.publish()
	return v.deleteDead() // V3: only what holds no live record, and is named by no cut from released on
}

// Close unmaps and closes the files. What was not written by a Cut is forgotten, as a rollback to the last cut would
// forget it. It waits for a Sync that is under way.
func (v *Virtualizer) Close() error {
	v.syncing.Lock()
	defer v.syncing.Unlock()
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
	v.idx, v.buf, v.segments, v.active, v.victim = newIndex(0), buffer{}, nil, nil, nil
	v.mu.Lock()
	v.pending = work{segments: map[*segment]struct{}{}}
	v.mu.Unlock()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("virtualize: close: %w", err)
	}
	return nil
}

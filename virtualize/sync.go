package virtualize

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Sync makes the last written checkpoint durable. Other calls continue meanwhile. After a failed sync nothing can be
// written any more, because the content of the disk is unknown. Continue with Open and the last durable checkpoint.
func (v *Virtualizer) Sync() error {
	v.syncing.Lock()
	defer v.syncing.Unlock()
	v.mu.Lock()
	if v.failed != nil {
		defer v.mu.Unlock()
		return v.failed
	}
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
	defer v.mu.Unlock()
	for s := range todo.segments {
		s.syncing--
	}
	err := errors.Join(errs...)
	if vfs.IsPassing(err) { // the index could not be opened, but no sync has failed
		for s := range todo.segments {
			v.pending.segments[s] = struct{}{}
		}
		if v.pending.index == "" {
			v.pending.index = todo.index
		}
		return fmt.Errorf("virtualize: sync: %w", err)
	}
	if err != nil {
		v.failed = &failure{fmt.Errorf("virtualize: sync: %w", err)}
		return v.failed
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

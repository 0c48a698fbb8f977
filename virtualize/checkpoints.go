package virtualize

import "fmt"

// checkpoints records which checkpoints were written and released. Files that the last released checkpoint, or a later
// one, needs are not removed (V3). The generations never decrease.
type checkpoints struct {
	dir        string
	file       indexFile
	generation uint64   // of the last checkpoint or snapshot
	written    uint64   // of the last written checkpoint
	released   uint64   // of the last checkpoint that was released or opened
	old        []uint64 // older index files that are not yet removed
	unsynced   work

	fullFailures int64 // sections refused by a full disk, since Open
}

func newCheckpoints(dir string) checkpoints {
	return checkpoints{dir: dir, unsynced: work{segments: map[*segment]struct{}{}}}
}

// resume continues after a checkpoint that was opened.
func (c *checkpoints) resume(generation uint64, file indexFile) {
	c.generation, c.written, c.released = generation, generation, generation
	c.file = file
}

// addWritten makes a completely written section the last checkpoint.
func (c *checkpoints) addWritten(generation uint64, base bool, length, sum uint64) {
	if base {
		if c.file.base != 0 {
			c.old = append(c.old, c.file.base)
		}
		c.file = indexFile{base: generation, baseLength: length}
	}
	c.file.length, c.file.sum = length, sum
	c.written = generation
	c.unsynced.index = indexName(c.dir, c.file.base)
}

// release records that a checkpoint is durable. It returns the index files that only older checkpoints need.
func (c *checkpoints) release(cut Checkpoint) (gone []uint64, err error) {
	if cut.Generation > c.written {
		return nil, fmt.Errorf("virtualize: release of generation %d, and the last one is %d", cut.Generation, c.written)
	}
	c.released = max(c.released, cut.Generation)
	for len(c.old) > 0 && c.old[0] < cut.Base {
		gone, c.old = append(gone, c.old[0]), c.old[1:]
	}
	return gone, nil
}

// addUnsynced records that a segment has changed since the last snapshot.
func (c *checkpoints) addUnsynced(s *segment) { c.unsynced.segments[s] = struct{}{} }

// forget must be called before a segment is deleted.
func (c *checkpoints) forget(s *segment) { delete(c.unsynced.segments, s) }

// takeUnsynced returns the work for a Sync. Its segments are not deleted until endSync.
func (c *checkpoints) takeUnsynced() work {
	todo := c.unsynced
	c.unsynced = work{segments: map[*segment]struct{}{}}
	for s := range todo.segments {
		s.syncing++
	}
	return todo
}

// endSync ends the work of takeUnsynced. If it must be repeated, the next Sync does it too.
func (c *checkpoints) endSync(todo work, repeat bool) {
	for s := range todo.segments {
		s.syncing--
	}
	if !repeat {
		return
	}
	for s := range todo.segments {
		c.unsynced.segments[s] = struct{}{}
	}
	if c.unsynced.index == "" {
		c.unsynced.index = todo.index
	}
}

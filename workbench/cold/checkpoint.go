package cold

import (
	"fmt"

	"orbweaver/internal/vfs"
)

// Checkpoint is the state of the store at one moment, for a manifest.
type Checkpoint struct {
	Head  Position `json:"head"` // records before it are not valid
	Tail  Position `json:"tail"` // records from here on are not valid
	Hosts uint64   `json:"hosts"`
	Sum   uint64   `json:"sum"` // of the hashes of the keys
}

// validate returns an error for values that Store.Checkpoint never returns.
func (c Checkpoint) validate() error {
	aligned := func(p Position) bool { return p.Offset >= 0 && p.Offset%recordAlign == 0 && p.Offset < 1<<40 }
	switch {
	case c.Head.Segment == 0, c.Tail.Segment < c.Head.Segment, c.Tail.Segment-c.Head.Segment >= segmentsMax,
		!aligned(c.Head), !aligned(c.Tail), c.Head.Offset < segmentHead,
		c.Tail.Offset != 0 && c.Tail.Offset < segmentHead,
		c.Head.Segment == c.Tail.Segment && c.Tail.Offset != 0 && c.Head.Offset > c.Tail.Offset,
		c.Head.Segment == c.Tail.Segment && c.Tail.Offset <= c.Head.Offset && (c.Hosts != 0 || c.Sum != 0):
		return fmt.Errorf("%w: invalid checkpoint %+v", vfs.ErrCorrupt, c)
	}
	return nil
}

// Checkpoint returns the state at this moment. It uses no file.
func (s *Store) Checkpoint() Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Checkpoint{Head: s.log.head, Tail: s.log.tail, Hosts: uint64(s.hosts.table.used), Sum: s.hosts.sum}
}

// Sync makes all earlier calls of Put and Take durable, and so all earlier checkpoints. If the disk fails a sync, this
// and all later calls return the error, because the content of the disk is unknown.
func (s *Store) Sync() error {
	if err := s.Flush(); err != nil {
		return err
	}
	s.flushing.Lock()
	defer s.flushing.Unlock()
	return s.segments.sync()
}

// Release must be called when c is durable in a manifest. It removes the files before the head of c.
func (s *Store) Release(c Checkpoint) error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	head := s.log.head.Segment
	s.mu.Unlock()
	return s.segments.release(min(c.Head.Segment, head))
}

// restore opens the files of a checkpoint and reads them.
func (s *Store) restore(cut *Checkpoint) error {
	if err := s.segments.open(cut.Head, cut.Tail); err != nil {
		return err
	}
	if err := s.segments.walk(cut.Head, cut.Tail, s.apply); err != nil {
		return err
	}
	if h := &s.hosts; uint64(h.table.used) != cut.Hosts || h.sum != cut.Sum {
		what := "%d hosts with the sum %016x, want %d with %016x"
		return s.segments.corrupt(cut.Tail, fmt.Sprintf(what, h.table.used, h.sum, cut.Hosts, cut.Sum))
	}
	return nil
}

// apply applies a record. After all records, the store has the hosts of the checkpoint (H3).
func (s *Store) apply(p Position, r *record) error {
	s.log.bytes += r.size
	if r.kind == kindHost {
		s.hosts.add(s.hosts.hash(r.key), p, r.size)
		return nil
	}
	g := r.removal
	if g.at.before(s.log.head) {
		return nil
	}
	if !g.at.before(p) || g.at.Offset >= segmentBytesMax || !s.hosts.remove(g.hash, g.at, g.size) {
		what := "removal of a host at byte %d of file %d, which has none"
		return s.segments.corrupt(p, fmt.Sprintf(what, g.at.Offset, g.at.Segment))
	}
	return nil
}

package virtualize

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Open opens the queues in o.Dir. If cut is nil there are none, and old files are removed. Otherwise the queues are
// exactly those of this checkpoint, which must be the last released one or a later one. Files that it does not name are
// removed. An error that wraps ErrCorrupt means that the files do not match the checkpoint. Open verifies the whole
// index; blocks are verified when they are read, or by Check.
func Open(fsys vfs.FS, o Options, cut *Checkpoint) (*Virtualizer, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	v := &Virtualizer{
		fsys: fsys, opts: o, portion: imagePortion, idx: newIndex(0), models: map[model]*codes{},
		segments: make([]*segment, 1), // There is no segment 0, so that no block has address 0.
		buf:      newBuffer(o.BufferBytes),
		pending:  work{segments: map[*segment]struct{}{}},
	}
	v.first = newCodes(firstModel())
	v.keepCodes(v.first)
	v.codes = v.first
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("virtualize: open: %w", err)
	}
	if cut != nil {
		if err := v.goBack(*cut); err != nil {
			return nil, errors.Join(err, v.Close())
		}
	}
	if err := v.removeUnnamed(); err != nil {
		return nil, errors.Join(fmt.Errorf("virtualize: open: %w", err), v.Close())
	}
	return v, nil
}

// keepCodes stores the codes of a model for reuse, because few segments have their own.
func (v *Virtualizer) keepCodes(c *codes) { v.models[*c.model] = c }

// removeUnnamed deletes segments and index files that are not in use.
func (v *Virtualizer) removeUnnamed() error {
	names, err := v.fsys.List(v.opts.Dir)
	if err != nil {
		return err
	}
	for _, base := range names {
		stale := ""
		if n, ok := parseName(base, "seg-", 8); ok && (n >= uint64(len(v.segments)) || v.segments[n] == nil) {
			stale = segmentName(v.opts.Dir, uint32(n))
		}
		if n, ok := parseName(base, "idx-", 16); ok && n != v.file.base {
			stale = indexName(v.opts.Dir, n)
		}
		if stale == "" {
			continue
		}
		if err := vfs.RemoveIfExists(v.fsys, stale); err != nil {
			return err
		}
	}
	return nil
}

// goBack reads an index file and opens its segments.
func (v *Virtualizer) goBack(cut Checkpoint) error {
	if cut.Generation > 0 && cut.Base == 0 {
		return corrupt("generation %d was written by an older version, in another format", cut.Generation)
	}
	if cut.Generation == 0 || cut.Base > cut.Generation {
		return corrupt("a cut has no generation %d from %d", cut.Generation, cut.Base)
	}
	data, err := vfs.ReadFile(v.fsys, indexName(v.opts.Dir, cut.Base))
	if err != nil {
		return fmt.Errorf("virtualize: open: %w", err)
	}
	if uint64(len(data)) < cut.Length {
		return corrupt("index %d has %d bytes, want %d", cut.Base, len(data), cut.Length)
	}
	l := loader{v: v, data: data[:cut.Length], buffered: map[uint32][]byte{}}
	if err := l.sections(cut); err != nil {
		return err
	}
	h := &l.head
	v.generation, v.written, v.released = h.generation, h.generation, h.generation
	v.ordinal, v.total, v.leaky = h.ordinal, h.items, h.leaky != 0
	v.segments = make([]*segment, h.next)
	for _, named := range l.segments {
		if err := v.openNamed(h, named); err != nil {
			return err
		}
	}
	if h.active != 0 {
		if h.active >= h.next || v.segments[h.active] == nil {
			return corrupt("index %d: no active segment %d", h.base, h.active)
		}
		v.active = v.segments[h.active]
		v.codes = v.active.codes
		if n := v.active.number; (n+1)&n == 0 {
			v.pack.seen = &tally{}
		}
	}
	if err := v.checkMoves(); err != nil {
		return err
	}
	if err := v.checkEntries(h); err != nil {
		return err
	}
	if err := l.refill(); err != nil {
		return err
	}
	clear(v.changes.queues) // Nothing has changed yet.
	return nil
}

func (v *Virtualizer) openNamed(h *header, d namedSegment) error {
	switch {
	case d.number == 0 || d.number >= h.next || v.segments[d.number] != nil,
		d.size < segmentHead || d.size > 1<<30,
		d.slots > d.size || d.dataEnd < segmentHead || d.dataEnd > d.size || d.dataEnd+d.slots*slotBytes > d.size,
		d.live == 0 || d.live > d.dataEnd-segmentHead+d.slots*slotBytes:
		return corrupt("index %d: impossible segment %d", h.base, d.number)
	}
	s, err := openSegment(v.fsys, v.opts.Dir, uint32(d.number), int64(d.size))
	if err != nil {
		return err
	}
	v.segments[d.number] = s
	s.slots, s.dataEnd, s.live, s.named = uint32(d.slots), uint32(d.dataEnd), int64(d.live), h.generation
	m, err := s.readModel()
	if err != nil {
		return err
	}
	if s.codes = v.models[*m]; s.codes == nil {
		if s.codes = newCodes(m); s.codes == nil {
			return corrupt("segment %d: its model is none", d.number)
		}
		v.keepCodes(s.codes)
	}
	return nil
}

// exists reports whether a segment has this slot.
func (v *Virtualizer) exists(a address) bool {
	if int(a.segment()) >= len(v.segments) {
		return false
	}
	s := v.segments[a.segment()]
	return s != nil && a.slot() < s.slots
}

// checkMoves verifies the relocation table and counts the moved blocks of each segment.
func (v *Virtualizer) checkMoves() error {
	for _, table := range v.reloc.tables {
		for born, now := range table {
			if born.segment() == 0 || int(born.segment()) >= len(v.segments) || !v.exists(now) {
				return corrupt("index %d: impossible relocation of %v to %v", v.file.base, born, now)
			}
			if s := v.segments[born.segment()]; s != nil {
				s.moved++
			}
		}
	}
	return nil
}

// checkEntries verifies head and tail of every queue.
func (v *Virtualizer) checkEntries(h *header) error {
	var items uint64
	err := v.idx.each(func(_ uint32, e *entry) error {
		items += e.items()
		if e.first+uint64(e.disk) > v.ordinal || e.first > v.ordinal || (e.disk == 0) != (e.head == 0) ||
			(e.disk == 0) != (e.tail == 0) {
			return corrupt("index %d: impossible queue %x with %d items from %d", h.base, e.key, e.disk, e.first)
		}
		if e.disk == 0 {
			return nil
		}
		for _, a := range [...]address{e.head, e.tail} {
			if s, i := v.locate(a); s == nil || i >= s.slots {
				return corrupt("index %d: queue %x leads to block %v, and there is none", h.base, e.key, a)
			}
		}
		return nil
	})
	if err == nil && (items != h.items || uint64(v.idx.count) != h.queues) {
		err = corrupt("index %d: %d items in %d queues, want %d in %d", h.base, items, v.idx.count, h.items, h.queues)
	}
	return err
}

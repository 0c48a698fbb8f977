package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Open opens the queues in o.Dir. With a nil cut there are none, and old files are removed. Otherwise they are exactly
// what they were at that cut, which must be the last one that was released or a later one; all files that it does not
// name are removed. Errors that wrap ErrCorrupt say that the files are not those that the cut names. The index is
// checked whole, the blocks only when they are read, or by Check.
func Open(fsys vfs.FS, o Options, cut *Cut) (*Virtualizer, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	v := &Virtualizer{
		fsys: fsys, opts: o, idx: newIndex(0), reloc: map[address]address{},
		segments: make([]*segment, 1), // There is no segment 0, so that no block has address 0.
	}
	v.buf.arena = make([]byte, 0, o.BufferBytes)
	v.pending.segments = map[*segment]struct{}{}
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
	v.publish()
	v.count.queues.Store(int64(v.idx.count))
	v.count.items.Store(int64(v.total))
	return v, nil
}

// removeUnnamed deletes the segments and generation files that are not in use now.
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
		if n, ok := parseName(base, "idx-", 16); ok && n != v.generation {
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

// goBack reads a generation file and opens the segments that it names.
func (v *Virtualizer) goBack(cut Cut) error {
	if cut.Generation == 0 {
		return corrupt("a cut has no generation 0")
	}
	h, body, err := readIndex(v.fsys, v.opts.Dir, cut)
	if err != nil {
		return err
	}
	v.generation, v.released, v.oldest = h.generation, h.generation, h.generation
	v.ordinal, v.total, v.leaky = h.ordinal, h.total, h.leaky != 0
	v.segments = make([]*segment, h.next)
	v.idx = newIndex(int(h.entries))
	words := reader(body)
	for range h.segments {
		if err := v.openNamed(h, &words); err != nil {
			return err
		}
	}
	if h.active != 0 {
		if h.active >= h.next || v.segments[h.active] == nil {
			return corrupt("generation %d: no active segment %d", h.generation, h.active)
		}
		v.active = v.segments[h.active]
	}
	for range h.relocations {
		if err := v.loadRelocation(address(words.u64()), address(words.u64())); err != nil {
			return err
		}
	}
	var items uint64
	for range h.entries {
		n, err := v.loadEntry(&words)
		if err != nil {
			return err
		}
		items += n
	}
	if items != h.total {
		return corrupt("generation %d: its queues have %d items, want %d", h.generation, items, h.total)
	}
	return nil
}

// reader takes numbers off bytes whose length was checked.
type reader []byte

func (r *reader) u64() uint64 {
	n := binary.LittleEndian.Uint64(*r)
	*r = (*r)[8:]
	return n
}

func (v *Virtualizer) openNamed(h header, words *reader) error {
	number, size, ends, live := words.u64(), words.u64(), words.u64(), words.u64()
	slots, dataEnd := ends>>32, ends&(1<<32-1)
	switch {
	case number == 0 || number >= h.next || v.segments[number] != nil,
		size < segmentHead || size > 1<<30,
		dataEnd < segmentHead || dataEnd+slots*slotBytes > size,
		live == 0 || live > dataEnd-segmentHead+slots*slotBytes:
		return corrupt("generation %d: impossible segment %d", h.generation, number)
	}
	s, err := openSegment(v.fsys, v.opts.Dir, uint32(number), int64(size))
	if err != nil {
		return err
	}
	s.slots, s.dataEnd, s.live, s.named = uint32(slots), uint32(dataEnd), int64(live), h.generation
	v.segments[number] = s
	return nil
}

// exists says that a segment has a slot.
func (v *Virtualizer) exists(a address) bool {
	if int(a.segment()) >= len(v.segments) {
		return false
	}
	s := v.segments[a.segment()]
	return s != nil && a.slot() < s.slots
}

func (v *Virtualizer) loadRelocation(born, now address) error {
	_, twice := v.reloc[born]
	if born.segment() == 0 || int(born.segment()) >= len(v.segments) || !v.exists(now) || twice {
		return corrupt("impossible relocation of %v to %v", born, now)
	}
	v.reloc[born] = now
	if s := v.segments[born.segment()]; s != nil {
		s.moved++
	}
	return nil
}

func (v *Virtualizer) loadEntry(words *reader) (items uint64, err error) {
	e := entry{key: words.u64(), first: words.u64(), head: address(words.u64()), tail: address(words.u64())}
	ends := words.u64()
	e.disk, e.headByte = uint32(ends>>32), uint32(ends)
	_, twice := v.idx.find(e.key)
	if twice || e.disk == 0 || e.first+uint64(e.disk) > v.ordinal || e.first > v.ordinal {
		return 0, corrupt("impossible queue %x with %d items from %d", e.key, e.disk, e.first)
	}
	for _, a := range []address{e.head, e.tail} {
		if s, i := v.locate(a); s == nil || i >= s.slots {
			return 0, corrupt("queue %x leads to block %v, and there is none", e.key, a)
		}
	}
	*v.idx.at(v.idx.insert(e.key)) = e
	return uint64(e.disk), nil
}

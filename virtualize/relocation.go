package virtualize

// relocations map the original address of a block to its current one, for blocks that Collect moved alone. There are
// many tables, so that a snapshot can copy them one at a time.
type relocations struct {
	tables [64]map[address]address
	count  int
}

func (r *relocations) table(born address) *map[address]address {
	return &r.tables[spread(uint64(born))>>(64-6)]
}

func (r *relocations) get(born address) (now address, ok bool) {
	now, ok = (*r.table(born))[born]
	return now, ok
}

// set stores the current address of a block; 0 removes it.
func (r *relocations) set(born, now address) {
	t := r.table(born)
	before := len(*t)
	switch {
	case now == 0:
		delete(*t, born)
	case *t == nil:
		*t = map[address]address{born: now}
	default:
		(*t)[born] = now
	}
	r.count += len(*t) - before
}

// locate returns the current segment and slot of a block, or nil if there is none.
func (v *Virtualizer) locate(a address) (*segment, uint32) {
	if int(a.segment()) >= len(v.segments) {
		return nil, 0
	}
	s := v.segments[a.segment()]
	if s == nil || s.moved > 0 {
		if to, ok := v.reloc.get(a); ok {
			// The segments in the table exist, because a segment with live blocks is never deleted.
			return v.segments[to.segment()], to.slot()
		}
	}
	return s, a.slot()
}

// setRelocation stores the current address of a block, or removes it if that is 0. It records the old value for
// snapshots.
func (v *Virtualizer) setRelocation(born, now address) {
	before, known := v.reloc.get(born)
	if !known && now == 0 {
		return
	}
	v.reloc.set(born, now)
	v.changes.moves = append(v.changes.moves, move{born, before})
	if s := v.segments[born.segment()]; s != nil {
		switch {
		case now == 0:
			s.moved--
		case !known:
			s.moved++ // the block was created here
		}
	}
}

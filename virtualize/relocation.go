package virtualize

// relocations say where the blocks live that Collect moved alone: address at birth to address now. There are many
// tables, so that an image can copy one at a time.
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

// set notes where a block lives; 0 forgets it.
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

// locate finds where a block lies now: its segment, nil if there is none, and slot.
func (v *Virtualizer) locate(a address) (*segment, uint32) {
	if int(a.segment()) >= len(v.segments) {
		return nil, 0
	}
	s := v.segments[a.segment()]
	if s == nil || s.moved > 0 {
		if to, ok := v.reloc.get(a); ok {
			// Blocks in the table lie in segments that exist: a segment with live blocks is never deleted.
			return v.segments[to.segment()], to.slot()
		}
	}
	return s, a.slot()
}

// setRelocation notes where a block lives now, or forgets it if that is 0, and keeps for the images what was before.
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
			s.moved++ // It was born here.
		}
	}
}

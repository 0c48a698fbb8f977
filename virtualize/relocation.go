package virtualize

// relocations map the original address of a block to its current one, for blocks that Collect moved alone. There are
// many tables, so that a snapshot can copy them one at a time.
type relocations struct {
	tables  [64]map[address]address
	count   int
	changed []move // since the last snapshot, in order
}

// move is a change of the relocation table. before is the old value for the block, 0 if there was none.
type move struct{ born, before address }

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

// change does the same as set, and records the old value for snapshots. delta is the change of the number of blocks
// that are now elsewhere: 1, 0 or -1.
func (r *relocations) change(born, now address) (delta int) {
	before, known := r.get(born)
	if !known && now == 0 {
		return 0
	}
	r.set(born, now)
	r.changed = append(r.changed, move{born, before})
	switch {
	case now == 0:
		return -1
	case !known:
		return 1
	}
	return 0
}

// takeChanged returns the changes since the last call, for a snapshot.
func (r *relocations) takeChanged() []move {
	changed := r.changed
	r.changed = nil
	return changed
}

// adopt puts the changes of an older snapshot, which was not completed, before the newer ones.
func (r *relocations) adopt(older []move) { r.changed = append(older, r.changed...) }

// appendUndo appends records that reverse the changes since the last snapshot, the last one first.
func (r *relocations) appendUndo(dst []byte) []byte {
	for i := len(r.changed) - 1; i >= 0; i-- {
		dst = appendMove(dst, r.changed[i].born, r.changed[i].before)
	}
	return dst
}

// bytes returns the approximate memory in bytes.
func (r *relocations) bytes() int64 { return int64(r.count)*32 + int64(cap(r.changed))*16 }

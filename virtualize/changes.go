package virtualize

// set is a set of entry numbers, one bit each.
type set []uint64

// has returns false for numbers beyond the length of the set.
func (s set) has(id uint32) bool {
	return int(id>>6) < len(s) && s[id>>6]>>(id&63)&1 != 0
}

func (s set) add(id uint32) { s[id>>6] |= 1 << (id & 63) }

func (s set) remove(id uint32) {
	if int(id>>6) < len(s) {
		s[id>>6] &^= 1 << (id & 63)
	}
}

// addBelow adds all numbers below n.
func (s set) addBelow(n uint32) {
	for i := range n >> 6 {
		s[i] = ^uint64(0)
	}
	if n&63 != 0 {
		s[n>>6] |= 1<<(n&63) - 1
	}
}

// move is a change of the relocation table. before is the old value for the block, 0 if there was none.
type move struct{ born, before address }

// changes are what the next snapshot must contain: everything that changed since the last complete one.
type changes struct {
	queues  set
	deleted []uint64 // keys of deleted queues; some may exist again
	moves   []move
}

// adopt adds the changes of an older snapshot that was not completed.
func (c *changes) adopt(older changes) {
	for i, w := range older.queues {
		c.queues[i] |= w
	}
	c.deleted = append(older.deleted, c.deleted...)
	c.moves = append(older.moves, c.moves...)
}

// touch must be called before a queue is created or changes. It copies the old state for the open snapshot, and marks
// the queue for the next one.
func (v *Virtualizer) touch(id uint32) {
	if im := v.image; im != nil && im.mustWrite(id) {
		im.changes.queues.remove(id)
		im.copiedEarly = v.appendQueue(im.copiedEarly, v.idx.at(id))
	}
	v.changes.queues.add(id)
}

// insert creates a queue with a new key.
func (v *Virtualizer) insert(key uint64) (id uint32) {
	id = v.idx.insert(key)
	for need := len(v.idx.chunks) * chunkSize / 64; len(v.changes.queues) < need; {
		v.changes.queues = append(v.changes.queues, make(set, need-len(v.changes.queues))...)
		v.spare = append(v.spare, make(set, need-len(v.spare))...)
	}
	if im := v.image; im != nil {
		im.changes.queues.remove(id) // It was free when the snapshot was taken.
	}
	v.changes.queues.add(id)
	return id
}

// deleteQueue deletes a queue without items. touch was called when it had some.
func (v *Virtualizer) deleteQueue(id uint32) {
	v.changes.deleted = append(v.changes.deleted, v.idx.at(id).key)
	v.idx.remove(id)
}

package virtualize

// set is a set of entry numbers, a bit each.
type set []uint64

// has says no of numbers beyond its length.
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

// move is a change of the relocation table: what it said about a block before, 0 for nothing.
type move struct{ born, before address }

// changes are what the next image has to hold: all that is not as the last good cut has it.
type changes struct {
	queues  set
	deleted []uint64 // keys of queues that went; some may be there again
	moves   []move
}

// adopt takes over what an older image did not bring to an end.
func (c *changes) adopt(older changes) {
	for i, w := range older.queues {
		c.queues[i] |= w
	}
	c.deleted = append(older.deleted, c.deleted...)
	c.moves = append(older.moves, c.moves...)
}

// touch is called before anything about a queue changes, its birth included: the image that is being written gets it as
// it was, and the next one as it will be.
func (v *Virtualizer) touch(id uint32) {
	if im := v.image; im != nil && im.owes(id) {
		im.changes.queues.remove(id)
		im.aside = v.appendQueue(im.aside, v.idx.at(id))
	}
	v.changes.queues.add(id)
}

// insert makes a queue that is not there.
func (v *Virtualizer) insert(key uint64) (id uint32) {
	id = v.idx.insert(key)
	for need := len(v.idx.chunks) * chunkSize / 64; len(v.changes.queues) < need; {
		v.changes.queues = append(v.changes.queues, make(set, need-len(v.changes.queues))...)
		v.spare = append(v.spare, make(set, need-len(v.spare))...)
	}
	if im := v.image; im != nil {
		im.changes.queues.remove(id) // It was free at the moment of the image.
	}
	v.changes.queues.add(id)
	return id
}

// gone forgets a queue that has no items. It was touched when it had some.
func (v *Virtualizer) gone(id uint32) {
	v.changes.deleted = append(v.changes.deleted, v.idx.at(id).key)
	v.idx.remove(id)
}
